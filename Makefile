# Run `make help` for the list of targets.
PREFIX ?= /usr/local
export DESTDIR DEBUG_FILES
SWIFT_BUILD = NEVOD_SHIPPED=1 swift build -c release --static-swift-stdlib

.PHONY: help demo check test build install uninstall deb bench sanitize fuzz soak tables pictures format lint

help: ## Print this help
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

demo: build ## Install what is missing, build, sign real requests and log in, at servers of its own
	@scripts/demo

check: ## Build what has changed, and run the quick tests (under 3 minutes); TESTS=TARGET for the tests of one target
	@scripts/check $(TESTS)

test: ## Install what is missing, build, and run every test; SANITIZER=address for the Swift tests under AddressSanitizer
	@SANITIZER=$(SANITIZER) scripts/test

build: ## Install what is missing, and build the command and the plugins (in .build/release)
	@scripts/install-packages build
	@$(SWIFT_BUILD)
	@scripts/build-plugins

install: ## Install what make build has built under PREFIX (default /usr/local); DEBUG_FILES=1 keeps the symbols beside it
	@scripts/install '$(PREFIX)'

uninstall: ## Remove what make install has put under PREFIX
	@scripts/install --uninstall '$(PREFIX)'

deb: build ## Make Debian packages of the command and of what authors of schemes need, in .build/deb
	@scripts/install-packages deb
	@scripts/make-deb .build/deb

bench: build ## Measure beside libcrypto, libcurl and curl, and print tables of ratios
	@scripts/bench

sanitize: ## Run the Swift tests under AddressSanitizer and ThreadSanitizer, or under SANITIZER=thread alone
	@scripts/sanitize $(SANITIZER)

fuzz: ## Feed mutated inputs to each parser of bytes from outside (SECONDS=60 each)
	@scripts/fuzz $(or $(SECONDS),60)

soak: ## Run the long forms of the tests (ROUNDS=20 of each)
	@scripts/soak

tables: build ## Write the tables of settings in Docs/schemes anew, from what the plugins declare
	@python3 scripts/scheme_tables.py

pictures: build ## Draw the pictures in Docs/images anew: a recorded session, and plots of the tables in Benchmarks/README.md
	@scripts/pictures

format: ## Format the Swift sources in place
	@swift format --in-place --recursive --parallel Package.swift Sources Plugins Tests Benchmarks

lint: ## Check the format, the layers, the header in C and C++, the scripts, links and comments
	@scripts/lint
