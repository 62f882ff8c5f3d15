#!/usr/bin/env bash
# Builds rankece in release and runs all of its tests, on a GPU too if there is a Vulkan, Metal or
# DX12 adapter. On Debian and Ubuntu, where there is none, it installs one in software (Mesa's
# lavapipe) if it may.
#
# Without any adapter the GPU tests are skipped, each with a printed line; with
# RANKECE_REQUIRE_GPU=1 they fail.
set -euo pipefail
cd "$(dirname "$0")"

driver_packages=(mesa-vulkan-drivers libvulkan1)

# A layer of Mesa asks the window system for the order of adapters, and complains if there is none.
export NODEVICE_SELECT=1

say() {
    echo "test.sh: $*" >&2
}

# What the tests use decides, so the program itself is asked.
has_adapter() {
    "$target/release/rankece" devices --format json | grep -q '"driver"'
}

install_driver() {
    local as_root=()
    if ! command -v apt-get >/dev/null; then
        say "no graphics adapter; install a Vulkan driver (a software one will do: Mesa's lavapipe)"
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            say "no graphics adapter; for one in software: sudo apt-get install ${driver_packages[*]}"
            return 1
        fi
        as_root=(sudo -n)
    fi
    say "no graphics adapter; installing ${driver_packages[*]}"
    "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${driver_packages[@]}" >/dev/null
}

# Everything is built first, the program with the tests.
cargo test --release --no-run
target=$(cargo metadata --no-deps --format-version 1 |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

if has_adapter || { install_driver && has_adapter; }; then
    export RANKECE_REQUIRE_GPU=1
else
    say "tests of the GPU are skipped, unless RANKECE_REQUIRE_GPU=1"
fi
cargo test --release
