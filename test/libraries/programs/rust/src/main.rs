//! Parses the answer to every case with the library's types, and prints what it read: one line of JSON for each case.

use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, CreateChatCompletionResponse, CreateChatCompletionStreamResponse,
};
use async_openai::types::embeddings::CreateEmbeddingResponse;
use async_openai::types::models::ListModelResponse;
use async_openai::types::responses::{OutputItem, Response, ResponseStreamEvent};
use serde_json::{json, Error, Value};

fn main() {
    let path = std::env::args().nth(1).expect("the path of the cases");
    let site: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the cases")).expect("JSON");
    for case in site["cases"].as_array().expect("a list of cases") {
        let answer = case["answer"].as_str().expect("an answer");
        let stream = case["stream"] == true;
        let result = match (case["api"].as_str().expect("an API"), stream) {
            ("chat", false) => read_chat(answer),
            ("chat", true) => join_chat(answer),
            ("responses", false) => serde_json::from_str(answer).map(read_response),
            ("responses", true) => join_response(answer),
            ("embeddings", _) => read_embeddings(answer),
            _ => read_models(answer),
        };
        let result = result.unwrap_or_else(|error| json!({ "problem": format!("{error}: {answer}") }));
        println!("{}", json!({ "name": case["name"], "result": result }));
    }
}

/// Returns the data of the events of a stream, without the end mark.
fn events(answer: &str) -> impl Iterator<Item = &str> {
    answer.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]")
}

fn read_chat(answer: &str) -> Result<Value, Error> {
    let parsed: CreateChatCompletionResponse = serde_json::from_str(answer)?;
    let choice = &parsed.choices[0];
    let calls: Vec<Value> = choice.message.tool_calls.iter().flatten().map(|call| match call {
        ChatCompletionMessageToolCalls::Function(call) => json!([call.function.name, call.function.arguments]),
        ChatCompletionMessageToolCalls::Custom(_) => json!(["a custom tool", ""]),
    }).collect();
    let text = choice.message.content.clone().unwrap_or_default();
    Ok(json!({ "text": text, "calls": calls, "finish": choice.finish_reason }))
}

fn join_chat(answer: &str) -> Result<Value, Error> {
    let (mut text, mut calls, mut finish) = (String::new(), Vec::<(String, String)>::new(), Value::Null);
    for event in events(answer) {
        let parsed: CreateChatCompletionStreamResponse = serde_json::from_str(event)?;
        for choice in parsed.choices {
            text += &choice.delta.content.unwrap_or_default();
            if let Some(reason) = choice.finish_reason {
                finish = json!(reason);
            }
            for call in choice.delta.tool_calls.into_iter().flatten() {
                let index = call.index as usize;
                if calls.len() <= index {
                    calls.resize(index + 1, Default::default());
                }
                let function = call.function.unwrap_or_default();
                calls[index].0 += &function.name.unwrap_or_default();
                calls[index].1 += &function.arguments.unwrap_or_default();
            }
        }
    }
    Ok(json!({ "text": text, "calls": calls, "finish": finish }))
}

fn read_response(parsed: Response) -> Value {
    let calls: Vec<Value> = parsed.output.iter().filter_map(|item| match item {
        OutputItem::FunctionCall(call) => Some(json!([call.name, call.arguments])),
        _ => None,
    }).collect();
    json!({ "text": parsed.output_text().unwrap_or_default(), "calls": calls, "finish": parsed.status })
}

fn join_response(answer: &str) -> Result<Value, Error> {
    let mut last = Value::Null;
    for event in events(answer) {
        if let ResponseStreamEvent::ResponseCompleted(completed) = serde_json::from_str(event)? {
            last = read_response(completed.response);
        }
    }
    Ok(last)
}

fn read_embeddings(answer: &str) -> Result<Value, Error> {
    let parsed: CreateEmbeddingResponse = serde_json::from_str(answer)?;
    let lengths: Vec<usize> = parsed.data.iter().map(|item| item.embedding.len()).collect();
    Ok(json!({ "lengths": lengths }))
}

fn read_models(answer: &str) -> Result<Value, Error> {
    let parsed: ListModelResponse = serde_json::from_str(answer)?;
    Ok(json!({ "ids": parsed.data.len() }))
}
