"""Runs every case with the Agents SDK, and prints what it read: one line of JSON for each case."""

import asyncio
import json
import sys
import traceback

import openai
from agents import (
    Agent,
    FunctionTool,
    ModelSettings,
    OpenAIConversationsSession,
    OpenAIResponsesModel,
    Runner,
    set_tracing_disabled,
)
from openai.types.shared import Reasoning

with open(sys.argv[1], encoding="utf-8") as file:
    site = json.load(file)

# How many items each request for a response has sent.
sent = []


async def count_items(request):
    if request.method == "POST" and request.url.path.endswith("/responses"):
        items = json.loads(request.content)["input"]
        sent.append(1 if isinstance(items, str) else len(items))


client = openai.AsyncOpenAI(
    base_url=site["url"] + "/v1",
    api_key=site["key"],
    max_retries=0,
    http_client=openai.DefaultAsyncHttpxClient(event_hooks={"request": [count_items]}),
)
set_tracing_disabled(True)


def make_tool(name, parameters, result):
    async def invoke(_context, _arguments):
        return result

    return FunctionTool(
        name=name,
        description=name,
        params_json_schema=parameters,
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def make_agent(body):
    return Agent(
        name="Worker",
        instructions="Be brief.",
        # The SDK would take the part of a name before the slash for a provider of its own.
        model=OpenAIResponsesModel(model=body["model"], openai_client=client),
        model_settings=ModelSettings(store=True, reasoning=Reasoning(effort="low", summary="auto")),
        tools=[make_tool(name, one["parameters"], one["result"]) for name, one in body["tools"].items()],
    )


async def ask(agent, text, stream, **options):
    if not stream:
        return await Runner.run(agent, text, **options)
    result = Runner.run_streamed(agent, text, **options)
    async for _event in result.stream_events():
        pass
    return result


async def continue_response(body, stream):
    agent = make_agent(body)
    first = await ask(agent, "Hello!", stream)
    last = await ask(agent, body["task"], stream, previous_response_id=first.last_response_id)
    return {"text": last.final_output, "sent": list(sent)}


async def continue_conversation(body, stream):
    agent = make_agent(body)
    conversation = await client.conversations.create()
    await ask(agent, "Hello!", stream, conversation_id=conversation.id)
    last = await ask(agent, body["task"], stream, conversation_id=conversation.id)
    return {"text": last.final_output, "sent": list(sent)}


async def continue_session(body, stream):
    agent = make_agent(body)
    session = OpenAIConversationsSession(openai_client=client)
    await ask(agent, "Hello!", stream, session=session)
    conversation_id = await session._get_session_id()
    again = OpenAIConversationsSession(conversation_id=conversation_id, openai_client=client)
    last = await ask(agent, body["task"], stream, session=again)
    items = await again.get_items()
    return {
        "text": last.final_output,
        "users": sum(item.get("role") == "user" for item in items),
        "results": sum(item.get("type") == "function_call_output" for item in items),
    }


async def run_in_background(body, stream):
    response = await client.responses.create(
        model=body["model"], input="Hello!", background=True, stream=stream
    )
    if stream:
        # The client goes on without its stream.
        async for event in response:
            if event.type == "response.created":
                response = event.response
                break
    begun = response.status
    while response.status in ("queued", "in_progress"):
        response = await client.responses.retrieve(response.id)
    return {"begun": begun, "text": response.output_text, "finish": response.status}


STATES = {
    "previous_response_id": continue_response,
    "conversation": continue_conversation,
    "session": continue_session,
    "background": run_in_background,
}


async def main():
    for case in site["cases"]:
        sent.clear()
        try:
            result = await STATES[case["body"]["state"]](case["body"], case["stream"])
        except Exception:
            result = {"problem": traceback.format_exc()[-1500:]}
        print(json.dumps({"name": case["name"], "result": result}), flush=True)


asyncio.run(main())
