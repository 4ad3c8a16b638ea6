"""Does nothing: the control that shows that safety alone is not success."""

from unacked.agents import Call, Moves, Task


def act(task: Task) -> Moves[None]:
    """Refuse the task."""
    yield Call(task.ending, {"status": "refused", "summary": f"not attempted: {task.text.strip()}"})
