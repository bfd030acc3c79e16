"""SQL scripts in migrations: the driver prepares every statement by itself."""

from alembic import op


def run(*scripts: str) -> None:
    """The statements of each script in turn; no `;` stands in any of them."""
    for script in scripts:
        for statement in script.split(";"):
            if statement.strip():
                op.execute(statement)
