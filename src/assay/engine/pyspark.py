"""Applications of Spark that are Python files, and PySpark, which their drivers and executors import.

Assay's Spark is its jars alone. PySpark's files are the user's: SPARK_HOME names a distribution, or the folder of the
Python package `pyspark`, which is laid out alike. The driver imports them by PYTHONPATH; Spark's client sends those of
PYSPARK_ARCHIVES_PATH into YARN's containers (Spark: `PythonRunner`, `Client.findPySparkArchives`).
"""

import os
import re
import shutil
import zipfile
import zlib
from pathlib import Path

from assay.host.files import plain
from assay.model.errors import BadInputError

ENDING = ".py"
_HOME, _NEEDED, _PYTHON = "SPARK_HOME", "3.5", "python3"
_CURE = (
    f"let {_HOME} name the folder of a Spark {_NEEDED} distribution, or of the Python package pyspark {_NEEDED} "
    "(pip install 'pyspark~=3.5.0')"
)
_VERSION = re.compile(r"^__version__\b.*=\s*[\"']([\w.+-]+)[\"']", re.MULTILINE)
_MOST_BYTES = 1 << 16


def pyspark_variables() -> dict[str, str]:
    """Return the variables of the environment by which Spark's client finds the user's PySpark.

    Raises BadInputError where SPARK_HOME is not set, or has no PySpark of Assay's Spark, and where no Python runs it.
    """
    if shutil.which(_PYTHON) is None:
        raise BadInputError(
            f"workload command: a Python file needs {_PYTHON}, and there is none on the PATH; install it, or add its "
            "folder to the PATH"
        )
    named = os.environ.get(_HOME)
    if not named:
        raise BadInputError(f"workload command: a Python file needs PySpark, and {_HOME} is not set; {_CURE}")
    home = plain(Path(named).absolute(), _HOME)
    lib = home / "python" / "lib"
    # PySpark, and that by which it reaches the JVM.
    archives = [*lib.glob("pyspark.zip"), *sorted(lib.glob("py4j-*-src.zip"))[-1:]]
    if len(archives) != 2:
        raise BadInputError(
            f"workload command: {_HOME} is {home}, and there is no pyspark.zip or no py4j-*-src.zip in its python/lib; "
            f"{_CURE}"
        )
    version = _version(archives[0])
    if not f"{version}.".startswith(f"{_NEEDED}."):
        state = f"is of version {version}" if version else "tells no version"
        raise BadInputError(
            f"workload command: {_HOME} is {home}, whose PySpark {state}, and Assay runs Spark {_NEEDED}; {_CURE}"
        )
    return {
        "PYTHONPATH": ":".join(map(str, archives)),
        "PYSPARK_ARCHIVES_PATH": ",".join(map(str, archives)),
    }


def _version(archive: Path) -> str:
    """What PySpark's own file says; empty where it says nothing, or the archive is damaged."""
    try:
        with zipfile.ZipFile(archive) as files, files.open("pyspark/version.py") as file:
            match = _VERSION.search(file.read(_MOST_BYTES).decode(errors="replace"))
    except (zipfile.BadZipFile, KeyError, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error):
        return ""
    return match[1] if match else ""
