"""Sends every case with the libraries, and prints what they read: one line of JSON for each case."""

import json
import sys
import traceback

import anthropic
import openai

with open(sys.argv[1], encoding="utf-8") as file:
    site = json.load(file)

# Without strict validation the libraries accept every answer.
openai_client = openai.OpenAI(
    base_url=site["url"] + "/v1", api_key=site["key"], max_retries=0, _strict_response_validation=True
)
anthropic_client = anthropic.Anthropic(
    base_url=site["url"], api_key=site["key"], max_retries=0, _strict_response_validation=True
)


def read_chat(answer):
    choice = answer.choices[0]
    calls = choice.message.tool_calls or []
    return {
        "text": choice.message.content or "",
        "calls": [[call.function.name, call.function.arguments] for call in calls],
        "finish": choice.finish_reason,
    }


def join_chat(chunks):
    text, calls, finish = "", {}, None
    for chunk in chunks:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or []:
                known = calls.setdefault(call.index, ["", ""])
                known[0] += call.function.name or ""
                known[1] += call.function.arguments or ""
    return {"text": text, "calls": list(calls.values()), "finish": finish}


def read_response(answer):
    calls = [item for item in answer.output if item.type == "function_call"]
    return {
        "text": answer.output_text,
        "calls": [[call.name, call.arguments] for call in calls],
        "finish": answer.status,
    }


def join_response(events):
    last = None
    for event in events:
        last = event
    return read_response(last.response)


def read_message(answer):
    return {
        "text": "".join(block.text for block in answer.content if block.type == "text"),
        "calls": [[block.name, json.dumps(block.input)] for block in answer.content if block.type == "tool_use"],
        "finish": answer.stop_reason,
    }


def stream_message(body):
    with anthropic_client.messages.stream(**body) as stream:
        return read_message(stream.get_final_message())


def send(api, body, stream):
    if api == "chat":
        answer = openai_client.chat.completions.create(**body, stream=stream)
        return join_chat(answer) if stream else read_chat(answer)
    if api == "responses":
        answer = openai_client.responses.create(**body, stream=stream)
        return join_response(answer) if stream else read_response(answer)
    if api == "messages":
        return stream_message(body) if stream else read_message(anthropic_client.messages.create(**body))
    if api == "embeddings":
        answer = openai_client.embeddings.create(**body)
        return {"lengths": [len(item.embedding) for item in answer.data]}
    return {"ids": len([model.id for model in openai_client.models.list()])}


for case in site["cases"]:
    try:
        result = send(case["api"], case["body"], case["stream"])
    except (openai.APIStatusError, anthropic.APIStatusError) as error:
        result = {"status": error.status_code}
    except Exception:  # noqa: BLE001 - every failure of a library is reported
        result = {"problem": traceback.format_exc()}
    print(json.dumps({"name": case["name"], "result": result}), flush=True)
