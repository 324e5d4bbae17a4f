/** What a client reads of an answer, in whichever format and form. */
export interface ReadAnswer {
  readonly text: string;
  readonly reasoning: string;
  /** The arguments of all calls. */
  readonly args: string;
  /** The text, as each event had it. */
  readonly pieces: readonly string[];
  /** The type of the error, at which the answer ended. */
  readonly error: string | null;
  /** The whole texts that events of Responses repeat at the end. */
  readonly repeated: readonly string[];
  readonly raw: string;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of all formats are read by the same paths
type Data = Readonly<Record<string, any>>;

/** Reads an answer in one of the client APIs' formats: a JSON document, or a stream. */
export async function readAnswer(response: Response): Promise<ReadAnswer> {
  const raw = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const events: Data[] = isStream
    ? raw
        .split("\n")
        .filter((line) => line.startsWith("data: {"))
        .map((line) => JSON.parse(line.slice(6)))
    : [JSON.parse(raw)];
  const pieces = events.flatMap(textsOf);
  return {
    text: pieces.join(""),
    reasoning: events.flatMap(reasoningOf).join(""),
    args: events.flatMap(argumentsOf).join(""),
    pieces,
    error: events.map(errorOf).find((error) => error !== null) ?? null,
    repeated: events.flatMap(repeatedOf),
    raw,
  };
}

function textsOf(event: Data): string[] {
  const [choice] = event["choices"] ?? [];
  const texts: (string | null | undefined)[] = [
    (choice?.delta ?? choice?.message)?.content,
    event["type"] === "content_block_delta" ? event["delta"].text : null,
    event["type"] === "response.output_text.delta" ? event["delta"] : null,
    ...(event["content"] ?? []).map((block: Data) => block["text"]),
    ...(event["object"] === "response" ? outputTexts(event) : []),
  ];
  return texts.filter((text) => typeof text === "string" && text !== "") as string[];
}

function outputTexts({ output = [] }: Data): string[] {
  return output.flatMap((item: Data) => (item["content"] ?? []).map((part: Data) => part["text"]));
}

function reasoningOf(event: Data): string[] {
  const [choice] = event["choices"] ?? [];
  const found = [
    (choice?.delta ?? choice?.message)?.reasoning,
    event["delta"]?.thinking,
    ...(event["content"] ?? []).map((block: Data) => block["thinking"]),
  ];
  return found.filter((text) => typeof text === "string");
}

function argumentsOf(event: Data): string[] {
  const [choice] = event["choices"] ?? [];
  const calls: Data[] = (choice?.delta ?? choice?.message)?.tool_calls ?? [];
  const found = [
    ...calls.map((call) => call["function"]?.arguments),
    event["delta"]?.partial_json,
    event["type"] === "response.function_call_arguments.delta" ? event["delta"] : null,
    ...(event["content"] ?? []).map((block: Data) => block["input"] && JSON.stringify(block["input"])),
    ...(event["object"] === "response" ? event["output"].map((item: Data) => item["arguments"]) : []),
  ];
  return found.filter((text) => typeof text === "string");
}

function errorOf(event: Data): string | null {
  const error = event["error"] ?? event["response"]?.error ?? null;
  if (error !== null) return error.metadata?.error_type ?? error.type ?? error.code;
  return event["type"] === "error" ? event["code"] : null;
}

function repeatedOf(event: Data): string[] {
  const { type = "" } = event;
  if (type === "response.output_text.done") return [event["text"]];
  if (type === "response.content_part.done") return [event["part"].text];
  if (type === "response.output_item.done") return outputTexts({ output: [event["item"]] });
  return type === "response.completed" ? outputTexts(event["response"]) : [];
}
