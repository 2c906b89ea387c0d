# make help says what there is.
PREFIX ?= /usr/local
SWIFT_BUILD = swift build -c release --static-swift-stdlib

.PHONY: help demo test build install bench sanitize format lint

help: ## Print this help
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

demo: build ## Install what is missing, build, and sign real requests that a server of its own verifies
	@scripts/demo

test: ## Install what is missing, build, and run every test
	@scripts/test

build: ## Install what is missing, and build the command and the plugins (in .build/release)
	@scripts/install-packages build
	@$(SWIFT_BUILD)

install: build ## Install under PREFIX (default /usr/local): bin, lib/nevod/plugins, include
	@install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/lib/nevod/plugins" "$(DESTDIR)$(PREFIX)/include"
	@install -m 755 .build/release/nevod-host "$(DESTDIR)$(PREFIX)/bin/"
	@install -m 644 .build/release/libHMACAuth.so "$(DESTDIR)$(PREFIX)/lib/nevod/plugins/"
	@install -m 644 Sources/NevodPluginABI/include/nevod_plugin.h "$(DESTDIR)$(PREFIX)/include/"
	@echo "installed nevod-host, libHMACAuth.so and nevod_plugin.h under $(DESTDIR)$(PREFIX)"

bench: build ## Measure beside libcrypto, libcurl and curl, and print tables of ratios
	@scripts/bench

sanitize: ## Run the tests under AddressSanitizer and ThreadSanitizer
	@scripts/sanitize

format: ## Format the Swift sources in place
	@swift format --in-place --recursive --parallel Package.swift Sources Plugins Tests Benchmarks

lint: ## Check the format, the header in C and C++, and the scripts
	@scripts/lint
