module handlersocket2.example/handlersocket

go 1.26
