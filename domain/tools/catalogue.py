"""The built-in tools, made of the ports they need."""

from norma.domain.policy.policy import CurrentPolicy
from norma.domain.tools.bash import Bash
from norma.domain.tools.edit import Edit, MultiEdit
from norma.domain.tools.glob import Glob
from norma.domain.tools.grep import Grep
from norma.domain.tools.ls import LS
from norma.domain.tools.read import Read
from norma.domain.tools.remembered import Remembered
from norma.domain.tools.sleep import Sleep
from norma.domain.tools.tasks import Monitor, TaskList, TaskOutput, TaskStop
from norma.domain.tools.web_fetch import WebFetch
from norma.domain.tools.web_search import SearchTheWeb
from norma.domain.tools.write import Write
from norma.ports.clock import Clock
from norma.ports.commands import CommandRunner, CommandTasks
from norma.ports.documents import Documents
from norma.ports.file_search import FileSearch
from norma.ports.files import IgnoreRules, Workspace
from norma.ports.page_fetch import PageFetch
from norma.ports.tool import Tool
from norma.ports.web_search import DEFAULT_RESULTS, WebSearch


def builtin_tools(
    workspace: Workspace,
    search: FileSearch,
    commands: CommandRunner,
    policy: CurrentPolicy,
    *,
    tasks: CommandTasks | None = None,
    clock: Clock | None = None,
    pages: PageFetch | None = None,
    web_search: WebSearch | None = None,
    search_limit: int = DEFAULT_RESULTS,
    ignores: IgnoreRules | None = None,
    documents: Documents | None = None,
) -> tuple[Tool, ...]:
    """
    Every built-in tool, in the order in which a model is told of them.

    *policy* is not for judging calls, which the engine does, but for what searches and lists leave out.
    Fetching needs *pages* and a *clock*; *web_search* is asked for *search_limit* results.
    Without *tasks* there are no background tasks, without a *clock* there is no sleep, without *ignores*
    nothing is left out for being ignored, and without *documents* a PDF is described, not read.
    """
    remembered = Remembered()
    of_tasks: tuple[Tool, ...] = ()
    if tasks is not None:
        of_tasks = TaskOutput(tasks), TaskStop(tasks), TaskList(tasks), Monitor(workspace, tasks)
    return (
        Read(workspace, remembered, documents),
        LS(workspace, policy, ignores),
        Glob(workspace, policy, ignores),
        Grep(workspace, search, policy),
        Write(workspace, remembered),
        Edit(workspace, remembered),
        MultiEdit(workspace, remembered),
        Bash(workspace, commands, tasks),
        *of_tasks,
        *(() if clock is None else (Sleep(clock),)),
        *(() if clock is None or pages is None else (WebFetch(pages, clock),)),
        *(() if web_search is None else (SearchTheWeb(web_search, search_limit),)),
    )
