module handlersocket2.example/go

go 1.26
