"""The official Python SDK as a client: one pass over everything that the server offers.

python python_client.py BINARY VAULT
"""

import asyncio
import datetime
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

PATIENCE = datetime.timedelta(seconds=30)


def field(thing, *names):
    """A field under the name that this version of the SDK gives it."""
    for name in names:
        if hasattr(thing, name):
            return getattr(thing, name)
    raise AttributeError(f"{type(thing).__name__} has none of {names}")


async def main(binary: str, vault: str) -> None:
    server = StdioServerParameters(command=binary, args=["--vault", vault, "mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        assert field(hello, "server_info", "serverInfo").name == "vault-agent"

        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        for name in ("memory_save", "memory_search", "memory_recall", "memory_get", "reminder_add"):
            assert name in tools, f"{name} is missing"

        # The SDK checks each structured result against the tool's output schema.
        saved = await session.call_tool(
            "memory_save", {"scope": "long", "content": "prefers green tea", "key": "Python client"}
        )
        text = field(saved, "structured_content", "structuredContent")["text"]
        assert "prefers green tea" in text, text
        found = await session.call_tool("memory_search", {"query": "green tea"})
        hits = field(found, "structured_content", "structuredContent")["hits"]
        assert any(hit["path"] == "MEMORY.md" for hit in hits), hits
        added = await session.call_tool("reminder_add", {"when": "tomorrow 9am", "message": "Drink tea"})
        reminder = field(added, "structured_content", "structuredContent")["id"]
        await session.call_tool("reminder_delete", {"id": reminder})
        wrong = await session.call_tool("memory_get", {"path": "../outside.md"})
        assert field(wrong, "is_error", "isError"), wrong

        resources = (await session.list_resources()).resources
        memory = next(one for one in resources if str(one.uri).endswith("MEMORY.md"))
        contents = (await session.read_resource(memory.uri)).contents
        assert "prefers green tea" in contents[0].text
        templates = await session.list_resource_templates()
        assert field(templates, "resource_templates", "resourceTemplates")
        prompts = (await session.list_prompts()).prompts
        prompt = await session.get_prompt(prompts[0].name)
        assert len(prompt.messages) == 2
        print(f"python sdk: {len(tools)} tools, {len(resources)} resources, {len(prompts)} prompts: fine")


asyncio.run(asyncio.wait_for(main(*sys.argv[1:3]), timeout=90))
