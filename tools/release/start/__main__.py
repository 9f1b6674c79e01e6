"""Starts npu-doctor out of one file. This page is read by whatever Python is there, so it is written for all of them."""

import sys

if sys.version_info < (3, 10) or sys.version_info >= (3, 14):
    sys.stderr.write(
        "npu-doctor: this file runs with Python 3.10 to 3.13, and this is %d.%d (%s)\n"
        " = help: name another one (python3.11 %s ...), or take the folder build, which brings its own Python\n"
        "npu-doctor: 本文件需要 Python 3.10 至 3.13，当前为 %d.%d\n"
        " = 建议: 换用其他 Python（python3.11 %s ...），或使用自带 Python 的目录版\n"
        % (sys.version_info[0], sys.version_info[1], sys.executable, sys.argv[0], sys.version_info[0], sys.version_info[1], sys.argv[0])
    )
    sys.exit(2)

import npu_doctor_start

sys.exit(npu_doctor_start.main())
