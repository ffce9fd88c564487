module handlersocket2.example/client_soak

go 1.26.0

replace handlersocket2.example/handlersocket => ../../../../clients/go

require handlersocket2.example/handlersocket v0.0.0-00010101000000-000000000000
