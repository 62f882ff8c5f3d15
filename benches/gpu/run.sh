#!/usr/bin/env bash
# rankece on a GPU beside PyTorch and CuPy on the same one: the same work, in one run of under 6 minutes.
#
# usage: run.sh PROGRAM [--vulkan FOLDER] [--output FILE] [--python PYTHON] [--small] [STEP ..]
#   PROGRAM          a built rankece; nothing is compiled here
#   --vulkan FOLDER  holds libvulkan.so.1, anywhere below it (an unpacked package will do), if the system has none
#   --output FILE    raw output, every command and number
#   --python PYTHON  a Python with NumPy, and PyTorch and CuPy if there are any (python3)
#   --small          tiny sizes, and NumPy where there is no GPU library: proves that the script runs, no more
#   STEP             selfcheck, power, sort, resamples, skce; all of them by default
# A driver that the loader does not find by itself is named by the loader's own VK_DRIVER_FILES.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
}

[ $# -ge 1 ] || usage
case $1 in -*) usage ;; esac
program=$1
shift
python=python3
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --vulkan)
        [ $# -ge 2 ] || usage
        loader=$(find "$2" -name 'libvulkan.so.1' | head -n 1)
        [ -n "$loader" ] || {
            echo "run.sh: --vulkan $2: no libvulkan.so.1 in it" >&2
            exit 2
        }
        LD_LIBRARY_PATH="$(cd "$(dirname "$loader")" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        export LD_LIBRARY_PATH
        shift 2
        ;;
    --python)
        [ $# -ge 2 ] || usage
        python=$2
        shift 2
        ;;
    --output)
        [ $# -ge 2 ] || usage
        arguments+=("$1" "$2")
        shift 2
        ;;
    -h | --help) usage ;;
    *)
        arguments+=("$1")
        shift
        ;;
    esac
done
exec "$python" "$here/run.py" "$program" ${arguments[@]+"${arguments[@]}"}
