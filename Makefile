# A table of contents: each command is a script in setup/.
SERVER ?= mariadb-10.11
MYCNF ?=

.PHONY: help run stop test bench lint install
help:
	@echo "make run       build the plugin and start a demo server with it (ports 9998 and 9999)"
	@echo "               SERVER=$(SERVER) is the server (or mariadb-11.8, mysql-9.7); MYCNF=FILE adds a settings file for it"
	@echo "make stop      stop the demo server"
	@echo "make test      run every test"
	@echo "make bench     run the benchmarks"
	@echo "make lint      check format and style"
	@echo "make install   put the plugin into this machine's own server"

run:
	@setup/run.sh "$(SERVER)" "$(MYCNF)"
stop:
	@setup/stop.sh
test:
	@setup/test.sh "$(SERVER)"
bench:
	@setup/bench.sh "$(SERVER)"
lint:
	@setup/lint.sh "$(SERVER)"
install:
	@setup/install.sh "$(SERVER)"
