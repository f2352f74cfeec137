# weighstone: make help lists what there is to make.

GO      ?= go
CC      ?= cc
CFLAGS  ?= -O2 -Wall -Wextra
# A count: go test may take the end of a time for a failure, "context deadline exceeded".
FUZZTIME ?= 40000x

VARIANTS := nethttp fasthttp fiber epoll poll select percore reactors amped staged accel uring prefork fork inetd symped prefork-reuseport
VARIANTS += goroutine thread-pool threads acceptor-queue event-mpm iterative
PROGRAMS := constant echo hello mirror send specweb
SCRIPTS  := bin/cgi/hello.sh $(addprefix bin/cgi/,echo.pl hello.pl mirror.pl send.pl) \
	bin/perl/perlhost.pl bin/php/hello.php bin/php/phpinfo.php
FLOORS   := floor prefork spawn threads

HAVE_CC := $(shell command -v $(CC) 2>/dev/null)

# The program is pure Go: without cgo it is linked statically, needs no C
# compiler, and starts faster.
BUILD := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-zA-Z%-]+:.*## / { sub(/%/, "VARIANT", $$1); printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "VARIANT is one of: $(VARIANTS)"

.PHONY: build
build: bin/weighstone bin/weighstone-worker bin/weighstone-helper programs ## build bin/weighstone, its worker and helper and the sample programs

# go build looks for itself what has changed.
.PHONY: bin/weighstone bin/weighstone-worker bin/weighstone-helper
bin/weighstone bin/weighstone-worker bin/weighstone-helper: bin/%:
	@$(BUILD) -o $@ ./cmd/$*

# The sample programs: in C, or where there is no C compiler the same in Go.
# Each is a CGI program, and a FastCGI and SCGI application when its standard
# input is a listening socket.
.PHONY: programs
programs: $(PROGRAMS:%=bin/cgi/%) $(PROGRAMS:%=bin/fcgi/%) $(SCRIPTS)

ifneq ($(HAVE_CC),)
SHARED := $(addprefix cgi/prog/,exchange.c fastcgi.c input.c main.c scgi.c)

bin/cgi/%: cgi/prog/%.c $(SHARED) cgi/prog/gateway.h cgi/prog/protocol.h | bin/cgi
	$(CC) $(CFLAGS) -o $@ $< $(SHARED)

bin/floor/%: bench/floor/%.c bench/floor/reply.h | bin/floor
	$(CC) $(CFLAGS) -pthread -o $@ $<
else
export CGO_ENABLED := 0

$(PROGRAMS:%=bin/cgi/%): cgi/prog/gocgi/main.go cgi/prog/gocgi/serve.go cgi/prog/gocgi/specweb.go | bin/cgi
	@echo "no C compiler ($(CC)): $@ is the same program in Go" >&2
	@$(BUILD) -o $@ ./cgi/prog/gocgi

bin/floor/%: bench/floor/%.c
	@echo "no C compiler ($(CC)): $@ can't be built, and there is no measuring against it" >&2
	@false
endif

bin/fcgi/%: bin/cgi/% | bin/fcgi
	ln -f $< $@

bin/cgi/%.sh: cgi/prog/%.sh | bin/cgi
	install -m 755 $< $@

bin/cgi/%.pl: cgi/prog/%.pl | bin/cgi
	install -m 755 $< $@

bin/perl/%: cgi/prog/% | bin/perl
	install -m 644 $< $@

bin/php/%: cgi/prog/% | bin/php
	install -m 644 $< $@

bin/cgi bin/fcgi bin/floor bin/perl bin/php:
	@mkdir -p $@

.PHONY: floors
floors: $(FLOORS:%=bin/floor/%)

# What tests look for in bin; those of the floors need a C compiler anyway.
TESTED := build $(if $(HAVE_CC),floors)

.PHONY: $(VARIANTS:%=serve-%)
$(VARIANTS:%=serve-%): serve-%: build
	bin/weighstone serve $* $(FLAGS)

serve-%: ## serve on http://127.0.0.1:8080 through a variant; FLAGS="--addr :8081 ..."
	@echo "no variant $*: there are $(VARIANTS)" >&2; exit 2

.PHONY: $(VARIANTS:%=bench-%)
$(VARIANTS:%=bench-%): bench-%: build floors
	bin/weighstone bench card --variants $* $(FLAGS)

bench-%: ## measure one variant under the standard loads, the floor beside
	@echo "no variant $*: there are $(VARIANTS)" >&2; exit 2

.PHONY: bench
bench: $(TESTED) ## compare API with CGI and poll with epoll, published figures beside (some 4 minutes)
	bin/weighstone bench api-vs-cgi epoll-vs-poll --quick $(FLAGS)

.PHONY: bench-floor
bench-floor: build floors ## print the speed table: the floor, our engines, real servers found here
	bin/weighstone bench floor $(FLAGS)

.PHONY: reproduce
reproduce: $(TESTED) ## repeat the published studies in quick mode, reports into out/reproduce (some 10 minutes on a quiet machine)
	bin/weighstone bench studies --quick --out out/reproduce $(FLAGS)

# What weighstone peers says is not here and Debian has; "and" is its word
# between two packages.
.PHONY: peers
peers: build ## install the real servers that ours are measured beside (apt-get, with sudo if you are not root)
	@.ci/install $$(bin/weighstone peers | grep -Ev 'load tool' | sed -n 's/.* no: Debian packages\{0,1\} //p' | tr ' ' '\n' | grep -v '^and$$' | sort -u)
	@bin/weighstone peers

.PHONY: bench-peers
bench-peers: build floors ## weigh ours against every real server found here
	bin/weighstone bench peers $(FLAGS)

# Most tests wait for servers more than they compute: three at a time, of three
# packages, keep two cores busy.
.PHONY: test
test: $(TESTED) ## run all tests; nothing but loopback is needed
	$(GO) test -timeout 20m -p 3 -parallel 3 ./...

.PHONY: test-race
test-race: $(TESTED) ## run all tests under the race detector
	$(GO) test -race -timeout 20m ./...

.PHONY: test-studies
test-studies: $(TESTED) ## repeat two studies at quick size beside real servers, and look at their reports (some 3 minutes)
	WEIGHSTONE_STUDIES=1 $(GO) test -count=1 -timeout 15m -run '^TestQuickStudies$$' ./tests

.PHONY: lint
lint: ## gofmt, go vet and staticcheck
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted:" >&2; echo "$$unformatted" >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME, a count or a time
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

.PHONY: docs
docs: ## fill the pages of variants and studies from the committed captures and results
	$(GO) run ./cmd/weighstone-docs write

.PHONY: docs-calls
docs-calls: build ## trace one request on each variant anew (needs strace), then fill the pages
	$(GO) run ./cmd/weighstone-docs capture $(VARIANTS)
	$(GO) run ./cmd/weighstone-docs write

.PHONY: docs-studies
docs-studies: ## keep the results of make reproduce as the studies' example runs, then fill the pages
	$(GO) run ./cmd/weighstone-docs take out/reproduce/*/result.json
	$(GO) run ./cmd/weighstone-docs write

.PHONY: soak
soak: $(TESTED) ## run the long tests too: more restarts, longer loads, more fuzzing
	WEIGHSTONE_SOAK=1 $(GO) test -count=1 -timeout 60m ./...
	$(MAKE) fuzz FUZZTIME=1000000x

.PHONY: clean
clean: ## remove what was built
	rm -rf bin out
