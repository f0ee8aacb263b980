"""The program of a past application of Spark: its jar or Python file, class, arguments and further files.

An event log has them in the command of the driver's JVM, `sun.java.command`, whose words have single blanks between
them. In client mode, and on Kubernetes, that is SparkSubmit with its options; in YARN's cluster mode it is
ApplicationMaster, which has `--arg` before each argument and of a Python file the name alone. A command in which Spark
sees a secret is left out as a whole. Sources (Spark 3.5): launcher.SparkSubmitOptionParser, deploy.SparkSubmit,
deploy.yarn.Client, deploy.yarn.ApplicationMasterArguments, util.Utils.redact.
"""

from collections.abc import Mapping, Sequence
from sys import intern

from assay.engine.past.job import PastProgram
from assay.engine.pyspark import ENDING
from assay.engine.spark_log import JAVA_COMMAND, WORKING_FOLDER

_SUBMIT = "org.apache.spark.deploy.SparkSubmit"
_MASTER = "org.apache.spark.deploy.yarn.ApplicationMaster"
_SWITCHES = frozenset({"--help", "--supervise", "--usage-error", "--verbose", "--version"})
"""Options of SparkSubmit without a value; all others that begin with two hyphens have one."""
_CONF = "-c"
_OF_NO_FILE = frozenset({"spark-shell", "pyspark-shell", "sparkr-shell", "spark-internal"})
"""What SparkSubmit has in place of a file."""
_CLASS, _JAR, _PYTHON_FILE, _ARGUMENT = "--class", "--jar", "--primary-py-file", "--arg"
_OF_MASTER = frozenset({
    _CLASS, _JAR, _PYTHON_FILE, _ARGUMENT, "--primary-r-file", "--properties-file", "--dist-cache-conf",
    "--executor-memory", "--executor-cores", "--num-executors",
})  # fmt: skip
"""The options of ApplicationMaster, the last three until Spark 2.1."""
_FILES = {
    "spark.jars": ("spark.yarn.dist.jars", "spark.jars"),
    "spark.submit.pyFiles": ("spark.yarn.dist.pyFiles", "spark.submit.pyFiles"),
    "spark.files": ("spark.yarn.dist.files", "spark.files"),
    "spark.archives": ("spark.yarn.dist.archives", "spark.archives"),
}
"""The properties that name further files, each with those that a log has for it."""
_REDACTED = "(redacted)"
_NO_FILE = "its command names no jar and no Python file, like that of a shell, a notebook or a server"


def program_of(settings: Mapping[str, str], system: Mapping[str, str]) -> PastProgram | None:
    """The program by the properties of an application and of its driver's JVM; None where these tell nothing."""
    starter, *words = system.get(JAVA_COMMAND, "").split(" ")
    if not starter:
        return None
    if starter == _SUBMIT:
        program = _of_submit(words)
    elif starter == _MASTER:
        program = _of_master(words)
    elif starter.endswith(_REDACTED):
        return PastProgram(unknown="Spark took its command for a secret (spark.redaction.regex)")
    else:
        return PastProgram(unknown=f"its driver was started by {starter}, whose command Assay does not read")
    return program._replace(folder=system.get(WORKING_FOLDER, ""), properties=_files(settings, program.file))


def _of_submit(words: Sequence[str]) -> PastProgram:
    """What SparkSubmit runs: its first word that is neither an option nor a value, and names a jar or Python file.

    Any other such word belongs to a value with blanks, and so does what stands beside a comma, as in `a.jar, b.jar`.
    """
    main_class, rest = "", iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        last = word
        if word in _OF_NO_FILE:
            break
        if word == _CONF or name.startswith("--"):
            if not equals and name not in _SWITCHES:
                last = value = next(rest, "")
            main_class = value if name == _CLASS else main_class
        elif not word.startswith(("-", ",")) and word.endswith((".jar", ENDING)):
            return PastProgram(word, "" if word.endswith(ENDING) else main_class, tuple(rest), joined=True)
        while last.endswith(","):
            last = next(filter(None, rest), "")
    return PastProgram(unknown=_NO_FILE)


def _of_master(words: Sequence[str]) -> PastProgram:
    """What ApplicationMaster runs: a value lasts until the next of its options, and has one word at least."""
    options: list[tuple[str, list[str]]] = []
    for word in words:
        if word in _OF_MASTER and (not options or options[-1][1]):
            options.append((word, []))
        elif options:
            options[-1][1].append(word)
    values = {name: " ".join(value) for name, value in options}
    arguments = tuple(" ".join(value) for name, value in options if name == _ARGUMENT)
    if script := values.get(_PYTHON_FILE):
        return PastProgram(script, arguments=arguments)
    if jar := values.get(_JAR):
        return PastProgram(jar, values.get(_CLASS, ""), arguments)
    return PastProgram(unknown=_NO_FILE)


def _files(settings: Mapping[str, str], program: str) -> dict[str, str]:
    """The properties that name further files, each once by its name, without the program itself.

    A file from elsewhere is listed once more where Spark's client has put it for as long as the application runs.
    """
    properties = {}
    for name, names in _FILES.items():
        files: dict[str, str] = {}
        for file in filter(None, (file.strip() for of in names for file in settings.get(of, "").split(","))):
            files.setdefault(_name(file), file)
        files.pop(_name(program), None)
        if files:
            properties[name] = intern(",".join(files.values()))  # the same for each run of a job
    return properties


def _name(file: str) -> str:
    return file.rpartition("/")[2]
