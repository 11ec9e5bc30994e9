"""Whole files: read once, written at once or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat

from boostlab.model_io.problems import Problem

LARGEST = 2**32 - 1  # bytes in a file: what a plain zip archive can hold


def read(name: str) -> bytes:
    """Return a file's bytes.

    Parameters
    ----------
    name : str
        The file; it must be a plain one of at most `LARGEST` bytes.
    """
    try:
        kind = os.stat(name)
        if stat.S_ISDIR(kind.st_mode):
            raise Problem("it is a folder", "give the file inside it")
        if not stat.S_ISREG(kind.st_mode):
            raise Problem("it is not a plain file", "give a file that save wrote")
        if kind.st_size > LARGEST:
            raise Problem("it is larger than a model file can be (4 GiB)", "give a file that save wrote")
        with open(name, "rb") as file:
            return file.read(kind.st_size)
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no model file {name!r}; check the path, or save a model there.") from None
    except (OSError, ValueError) as error:
        raise Problem(f"it cannot be read ({_why(error)})", "check the path and your rights") from error


def write(name: str, data: bytes) -> None:
    """Write a file through a temporary one beside it, so that a failure leaves an older file as it was.

    Parameters
    ----------
    name : str
        The file; of a link, what it points to.
    data : bytes
        The content.
    """
    try:
        target = os.path.realpath(name)
        folder = os.path.dirname(target)
        if os.path.isdir(target):
            raise Problem("it is a folder", "give a file name inside it")
        if os.path.exists(target) and not os.path.isfile(target):
            raise Problem("it is not a plain file", "give another name")
        if os.path.exists(target) and not os.access(target, os.W_OK):
            raise Problem("it is write-protected", "give another name, or change its rights")
        if not os.path.isdir(folder):
            raise Problem(f"the folder {folder!r} does not exist", "create it first, or give another path")
        _replace(target, os.path.join(folder, f".boostlab-{secrets.token_hex(8)}.tmp"), data)
    except (OSError, ValueError) as error:
        raise Problem(f"it cannot be written ({_why(error)})", "choose another place, or change its rights") from error


def _replace(target: str, beside: str, data: bytes) -> None:
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            shutil.copymode(target, beside)  # an older file's rights stay
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(beside)
        raise


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
