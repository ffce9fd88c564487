# A table of contents: each command is a script in setup/.
SERVER ?=
MYCNF ?=
PORT ?=
PORT_WR ?=
REDIS_PORT ?=
MEMCACHED_PORT ?=
QUICK ?=
SECONDS ?=
SEED ?=
CLIENTS ?=
# The server of a command that is for one server, if none is named.
NAME = $(or $(SERVER),mariadb-10.11)

.PHONY: help run stop check test test-cluster soak simulate bench bench-clients lint draw-dashboard install uninstall deb test-deb
help:
	@echo "make run       build the plugin and start a demo server with it (PORT=9998, PORT_WR=9999, REDIS_PORT=6380, MEMCACHED_PORT=11311); MYCNF=FILE adds settings"
	@echo "make stop      stop the demo server"
	@echo "make check     three minutes: unit tests, layers, vectors and some dialogues on one server, for who has changed a line"
	@echo "make test      run every test, on MariaDB 10.11, and a short choice on the others; with SERVER= all on that one"
	@echo "make test-cluster  replicas, Galera, Group Replication, backups alone, with SECONDS=60 of conflicts"
	@echo "make soak      random work with faults, each reply checked, for SECONDS=600; SEED=N replays a run; CLIENTS=go,java,node,python does it with our clients"
	@echo "make simulate  run the front end in a simulator for a minute; SECONDS=N, or SEED=N to replay one"
	@echo "make bench     run the benchmarks; QUICK=1 only shows that all of it works, in 6 minutes, and in 12 the first time"
	@echo "make bench-clients  our client libraries beside those of Redis and SQL; QUICK=1 as above"
	@echo "make draw-dashboard  draw the Grafana dashboard with Grafana's own components, from SECONDS=60 of load"
	@echo "make lint      check format and style"
	@echo "make install   put the plugin into this machine's own server"
	@echo "make uninstall takes it away again"
	@echo "make deb       build a Debian package, which builds the plugin again when the server is upgraded"
	@echo "make test-deb  install, upgrade, remove and purge that package in clean trees of Debian 12, 13 and sid (10 minutes or more)"
	@echo "SERVER=NAME    mariadb-10.11 (the default), mariadb-11.8 or mysql-9.7"

run:
	@setup/run.sh "$(NAME)" "$(MYCNF)" "$(PORT)" "$(PORT_WR)" "$(REDIS_PORT)" "$(MEMCACHED_PORT)"
stop:
	@setup/stop.sh
check:
	@setup/check.sh "$(NAME)"
test:
	@setup/test.sh $(SERVER)
test-cluster:
	@setup/test_cluster.sh "$(NAME)" "$(SECONDS)"
soak:
	@$(if $(CLIENTS),setup/soak_clients.sh "$(NAME)" "$(CLIENTS)",setup/soak.sh "$(NAME)") "$(SECONDS)" "$(SEED)"
simulate:
	@setup/simulate.sh "$(SECONDS)" "$(SEED)"
bench:
	@setup/bench.sh "$(NAME)" $(if $(QUICK),--quick)
bench-clients:
	@setup/bench_clients.sh "$(NAME)" $(if $(QUICK),--quick)
draw-dashboard:
	@setup/draw_dashboard.sh "$(NAME)" "$(SECONDS)"
lint:
	@setup/lint.sh "$(NAME)"
install:
	@setup/install.sh $(SERVER)
uninstall:
	@setup/uninstall.sh
deb:
	@setup/deb.sh
test-deb:
	@setup/test_deb.sh
