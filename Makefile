# A table of contents: each command is a script in setup/.
SERVER ?=
MYCNF ?=
# Where a command is for one server and none is named.
NAME = $(or $(SERVER),mariadb-10.11)

.PHONY: help run stop test bench lint install
help:
	@echo "make run       build the plugin and start a demo server with it (ports 9998 and 9999); MYCNF=FILE adds settings"
	@echo "make stop      stop the demo server"
	@echo "make test      run every test, on MariaDB 10.11, and a short choice on the others; with SERVER= all on that one"
	@echo "make bench     run the benchmarks"
	@echo "make lint      check format and style"
	@echo "make install   put the plugin into this machine's own server"
	@echo "SERVER=NAME    mariadb-10.11 (the default), mariadb-11.8 or mysql-9.7"

run:
	@setup/run.sh "$(NAME)" "$(MYCNF)"
stop:
	@setup/stop.sh
test:
	@setup/test.sh $(SERVER)
bench:
	@setup/bench.sh "$(NAME)"
lint:
	@setup/lint.sh "$(NAME)"
install:
	@setup/install.sh $(SERVER)
