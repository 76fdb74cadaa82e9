# make        build the optimised program, build/release/heed
# make test   build it with its tests and run them
# make demo   train a small translator on the built-in corpus and try it
# See CONTRIBUTING.md for the others. Missing Debian packages are installed first.

.PHONY: program test dev-test tsan-test fuzz crash faults interop mutants coverage demo bench format format-check style-check \
        web-check tidy clean packages ci-packages

program: packages
	cmake --preset release
	cmake --build --preset release --target heed_program

test: packages
	cmake --preset release
	cmake --build --preset release
	ctest --preset release

dev-test: ci-packages
	cmake --preset dev
	cmake --build --preset dev
	ctest --preset dev

tsan-test: ci-packages
	cmake --preset tsan
	cmake --build --preset tsan
	ctest --preset tsan

# Each harness for this many minutes: make fuzz MINUTES=10
MINUTES ?= 1
fuzz: ci-packages
	cmake --preset dev
	cmake --build --preset dev --target fuzzers
	fuzz/run --minutes $(MINUTES)

# Kills training runs this often: make crash KILLS=2000
KILLS ?= 20
crash: program
	tests/reliability/crash --kills $(KILLS)

# Every system call of Heed fails with every error: make faults SAMPLE=100 for some of them
faults: program
	tests/reliability/faults $(if $(SAMPLE),--sample $(SAMPLE))

# What llama.cpp and ONNX Runtime compute with exported models. Installs nothing; says what to install.
interop: program
	tests/interop/run

# Mutation testing: 300 small changes of the library, each of which a test should notice.
mutants: packages
	tests/mutation/run

# Lines and branches of the library that the tests reach.
coverage: ci-packages
	cmake --preset coverage
	cmake --build --preset coverage
	scripts/coverage

demo: program
	build/release/heed demo

bench:
	@scripts/install_packages bench
	cmake --preset bench
	cmake --build --preset bench
	bench/run $(HEED_DATA)

format:
	git ls-files '*.h' '*.cpp' | xargs clang-format -i

format-check:
	git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run -Werror

# Which terms are used, who includes whom, what is installed, and which tests hold the promises.
style-check:
	scripts/check_words
	scripts/check_layers
	scripts/check_public_headers
	scripts/check_promises

web-check:
	cd web && { [ -d node_modules ] || npm ci --no-audit --no-fund --no-update-notifier --loglevel=error; }
	cd web && npm run --silent check

tidy: ci-packages
	cmake --preset tidy
	scripts/tidy build/tidy

clean:
	rm -rf build

packages:
	@scripts/install_packages

ci-packages:
	@scripts/install_packages ci
