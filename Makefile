# make        build the optimised program, build/release/heed
# make test   build it with its tests and run them
# make demo   train a small translator on the built-in corpus and try it
# See CONTRIBUTING.md for the others. Missing Debian packages are installed first.

.PHONY: program test dev-test demo bench format clean packages

program: packages
	cmake --preset release
	cmake --build --preset release --target heed_program

test: packages
	cmake --preset release
	cmake --build --preset release
	ctest --preset release

dev-test: packages
	cmake --preset dev
	cmake --build --preset dev
	ctest --preset dev

demo: program
	build/release/heed demo

bench:
	@scripts/install_packages bench
	cmake --preset bench
	cmake --build --preset bench
	bench/run $(HEED_DATA)

format:
	git ls-files '*.h' '*.cpp' | xargs clang-format -i

clean:
	rm -rf build

packages:
	@scripts/install_packages
