"""What applying a plan changes on a cluster, written down before it is done, and taken back exactly.

Two things are changed: the jar is put into the cluster's file system, and paths get storage policies. What jobs run
with is theirs. A step is known by the states that it leads between, so that each may be done, or taken back, again
after an interruption. One that leads to a third state was changed by somebody else and is left alone.
"""

from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from assay.direct.plan_file import PlanFile
from assay.host.files import read_text, replace_text
from assay.model.base import Frozen, json_text
from assay.model.errors import AssayError, BadInputError
from assay.model.naming import nearest
from assay.store.hadoop_fs import HadoopFs
from assay.store.storage_policies import StoragePolicies


class State(StrEnum):
    """How a step stands."""

    APPLIED = "as applied"
    BEFORE = "as before"
    CHANGED = "changed by somebody else"
    GONE = "not there any more; a path that was moved keeps its policy"


class JarStep(Frozen):
    """The jar, which was not there before."""

    path: str
    """Where it is in the cluster's file system."""
    sha256: str
    """Of its content."""


class PolicyStep(Frozen):
    """A path's storage policy."""

    path: str
    """The path."""
    policy: str
    """The policy that it gets."""
    before: str
    """The policy in force before; empty for none."""
    inherited: bool
    """Whether that was taken for its folder's: the same policy was in force there."""


class Journal(Frozen):
    """What was changed on a cluster, and how it was before."""

    version: Literal[1] = 1
    """Of this form."""
    cluster: Path | None
    """The cluster's configuration; null for the client's own."""
    jar: JarStep | None
    """The jar; null where the same one lay there already."""
    policies: tuple[PolicyStep, ...]
    """Paths whose policy was another one."""


class Clients(NamedTuple):
    """What reaches the cluster."""

    files: HadoopFs
    policies: StoragePolicies


def steps_of(plan: PlanFile, jar: Path, cluster: Path | None, clients: Clients) -> Journal:
    """What is to be changed for a plan. Raises BadInputError where that can't be, before anything is."""
    if not jar.is_file():
        raise BadInputError(f"{jar} is not there; run `assay direct apply` from a checkout, which makes it")
    return Journal(
        cluster=None if cluster is None else cluster.resolve(), jar=_jar_step(plan.jar, jar, clients.files),
        policies=_policy_steps(plan, clients.policies),
    )  # fmt: skip


def _jar_step(path: str, jar: Path, files: HadoopFs) -> JarStep | None:
    digest = sha256(jar.read_bytes()).hexdigest()
    folder = path.rpartition("/")[0] or "/"
    try:
        files.list_files(folder)
    except AssayError as error:
        raise BadInputError(
            f"the jar's folder {folder} can't be read ({error}); if it is not there, make it with `hadoop fs -mkdir -p "
            f"{folder}`, readable by all whose jobs are directed, or name another with --jar when you plan"
        ) from None
    lying = _digest(path, files)
    if lying and lying != digest:
        raise BadInputError(f"{path} is another file already; name another place with --jar when you plan")
    return None if lying else JarStep(path=path, sha256=digest)


def _digest(path: str, files: HadoopFs) -> str:
    """Of a file's content; empty where there is no such file."""
    if not files.size_bytes(path):
        return ""
    content = sha256()
    for piece in files.pieces(path):
        content.update(piece)
    return content.hexdigest()


def _policy_steps(plan: PlanFile, policies: StoragePolicies) -> tuple[PolicyStep, ...]:
    known = policies.names() if plan.policies else []
    steps = []
    for path, policy in plan.policies.items():
        if policy not in known:
            raise BadInputError(f"policies: {path} is to be {policy!r}; {nearest(policy, known)}")
        try:
            before = policies.of(path)
            inherited = before == ("" if path == "/" else policies.of_folder(path))
        except AssayError as error:
            raise BadInputError(f"policies: {path} can't be used: {error}") from None
        if before != policy:
            steps.append(PolicyStep(path=path, policy=policy, before=before, inherited=inherited))
    return tuple(steps)


def apply_steps(journal: Journal, file: Path, jar: Path, clients: Clients) -> None:
    """Write the journal down, and do what it says. Raises AssayError; `undo` then takes back what was done."""
    replace_text(file, json_text(journal.model_dump(mode="json"), indent=1) + "\n")
    if journal.jar is not None:
        clients.files.put(jar, journal.jar.path)
        clients.files.let_all_read(journal.jar.path)
    for step in journal.policies:
        clients.policies.set(step.path, step.policy)


def read_journal(file: Path) -> Journal:
    """The journal in a file. Raises BadInputError."""
    if not file.exists():
        raise BadInputError(f"{file} is not there: nothing was applied here, or --journal must name another file")
    try:
        return Journal.model_validate_json(read_text(file))
    except ValidationError:
        raise BadInputError(f"{file} is no journal of `assay direct apply`") from None


def states(journal: Journal, clients: Clients) -> list[tuple[str, State]]:
    """How each step stands now, with what it is about."""
    standing = [(f"policy of {step.path}", _policy_state(step, clients)) for step in journal.policies]
    if journal.jar is not None:
        standing.insert(0, (f"jar {journal.jar.path}", _jar_state(journal.jar, clients.files)))
    return standing


def _jar_state(step: JarStep, files: HadoopFs) -> State:
    digest = _digest(step.path, files)
    return State.BEFORE if not digest else State.APPLIED if digest == step.sha256 else State.CHANGED


def _policy_state(step: PolicyStep, clients: Clients) -> State:
    try:
        now = clients.policies.of(step.path)
    except AssayError:
        if clients.files.exists(step.path):
            raise
        return State.GONE
    return State.APPLIED if now == step.policy else State.BEFORE if now == step.before else State.CHANGED


def undo_steps(journal: Journal, file: Path, clients: Clients) -> list[tuple[str, State]]:
    """Take back what still is as it was applied, and remove the journal; how each step stood before.

    Raises BadInputError, before anything is changed, where somebody else changed any of it. Raises AssayError where a
    policy cannot be taken back, once all else is; the journal stays then.
    """
    before = states(journal, clients)
    if changed := [subject for subject, state in before if state is State.CHANGED]:
        raise BadInputError(
            f"{', '.join(changed)}: changed by somebody else since it was applied, so that nothing is taken back; set "
            f"it by hand to what {file} has before, or as applied, then start again"
        )
    applied = {subject for subject, state in before if state is State.APPLIED}
    failures = []
    for step in journal.policies:
        if f"policy of {step.path}" in applied:
            try:
                _restore(step, clients.policies)
            except AssayError as error:
                failures.append(str(error))
    if journal.jar is not None and f"jar {journal.jar.path}" in applied:
        clients.files.delete(journal.jar.path)
    if failures:
        raise AssayError(f"{'; '.join(failures)}; all else is taken back, and {file} stays")
    file.unlink()
    return before


def _restore(step: PolicyStep, policies: StoragePolicies) -> None:
    if step.inherited:
        policies.unset(step.path)
    else:
        policies.set(step.path, step.before)
    now = policies.of(step.path)
    if now != step.before:
        raise AssayError(
            f"the policy of {step.path} was {step.before or 'unspecified'} before and is {now or 'unspecified'} now: "
            "its folder's was changed by somebody else"
        )
