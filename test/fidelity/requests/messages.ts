import type { RequestCase } from "./request-case.ts";

const SYSTEM = "MARKER-system";
const LATE = "MARKER-late";
const late = (role: string) => [
  { role: "user", content: "Hello" },
  { role: "assistant", content: "Hi." },
  { role, content: LATE },
  { role: "user", content: "Go on." },
];

/** Messages and their roles. */
export const MESSAGES: readonly RequestCase[] = [
  {
    name: "system message",
    bodies: {
      chat: {
        messages: [
          { role: "system", content: SYSTEM },
          { role: "user", content: "Hello" },
        ],
      },
      responses: { instructions: SYSTEM },
      messages: { system: SYSTEM },
    },
    kept: {
      "openai-chat": { "messages[0]": { role: "system", content: SYSTEM } },
      "openai-responses": [
        { instructions: SYSTEM },
        { "input[0].role": "system", "input[0].content[].text": SYSTEM },
      ],
      "anthropic-messages": { system: SYSTEM },
      gemini: { "systemInstruction.parts[].text": SYSTEM },
      "bedrock-converse": { "system[].text": SYSTEM },
      "cohere-chat": { "messages[0]": { role: "system", content: SYSTEM } },
    },
    field: /system/,
  },
  {
    name: "developer message",
    bodies: {
      chat: {
        messages: [
          { role: "developer", content: SYSTEM },
          { role: "user", content: "Hello" },
        ],
      },
      responses: {
        input: [
          { role: "developer", content: SYSTEM },
          { role: "user", content: "Hello" },
        ],
      },
    },
    kept: {
      "openai-chat": { "messages[0].role": /system|developer/, "messages[0].content": SYSTEM },
      "openai-responses": [
        { "input[0].role": "developer", "input[0].content": SYSTEM },
        { "input[0].role": "developer", "input[0].content[].text": SYSTEM },
      ],
      "anthropic-messages": { system: SYSTEM },
      gemini: { "systemInstruction.parts[].text": SYSTEM },
      "bedrock-converse": { "system[].text": SYSTEM },
      "cohere-chat": { "messages[0]": { role: "system", content: SYSTEM } },
    },
    field: /system/,
  },
  {
    name: "system message after other messages",
    bodies: {
      chat: { messages: late("system") },
      responses: { input: late("system") },
      messages: { messages: late("system") },
    },
    kept: {
      "openai-chat": { "messages[2]": { role: "system", content: LATE } },
      "openai-responses": [
        { "input[]": { role: "system", content: LATE } },
        { "input[2].role": "system", "input[2].content[].text": LATE },
      ],
      "anthropic-messages": { "messages[2]": { role: "system", content: LATE } },
      "cohere-chat": { "messages[2]": { role: "system", content: LATE } },
    },
    field: /messages\[2\]/,
  },
  {
    name: "several turns",
    bodies: {
      chat: { messages: late("user") },
      responses: { input: late("user") },
      messages: { messages: late("user") },
    },
    kept: {
      "openai-chat": { "messages[1].content": "Hi.", "messages[].content": LATE },
      "openai-responses": [
        { "input[1].content": "Hi.", "input[].content": LATE },
        { "input[1].content[0].text": "Hi.", "input[].content[].text": LATE },
      ],
      "anthropic-messages": [
        { "messages[1].content": "Hi.", "messages[].content": LATE },
        { "messages[1].content": "Hi.", "messages[].content[].text": LATE },
      ],
      gemini: {
        "contents[1]": { role: "model", parts: [{ text: "Hi." }] },
        "contents[2].parts[].text": LATE,
      },
      "bedrock-converse": {
        "messages[1]": { role: "assistant", content: [{ text: "Hi." }] },
        "messages[2].content[].text": LATE,
      },
      "cohere-chat": {
        "messages[1]": { role: "assistant", content: "Hi." },
        "messages[].content": LATE,
      },
    },
    field: /messages/,
  },
  {
    name: "participant name",
    bodies: { chat: { messages: [{ role: "user", name: "MARKER", content: "Hello" }] } },
    kept: { "openai-chat": { "messages[0].name": "MARKER" } },
    field: /name/,
  },
  {
    name: "refusal in an earlier turn",
    bodies: {
      chat: {
        messages: [
          { role: "user", content: "Hello" },
          { role: "assistant", content: null, refusal: "MARKER" },
          { role: "user", content: "Why?" },
        ],
      },
      responses: {
        input: [
          { role: "user", content: "Hello" },
          { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "MARKER" }] },
          { role: "user", content: "Why?" },
        ],
      },
    },
    kept: {
      "openai-chat": { "messages[1].refusal": "MARKER" },
      "openai-responses": { "input[1].content[].refusal": "MARKER" },
      "anthropic-messages": [{ "messages[1].content": "MARKER" }, { "messages[1].content[].text": "MARKER" }],
      gemini: { "contents[1].parts[].text": "MARKER" },
      "bedrock-converse": { "messages[1].content[].text": "MARKER" },
      "cohere-chat": { "messages[1].content": "MARKER" },
    },
    field: /refusal/,
  },
  {
    name: "citations in an earlier turn",
    bodies: {
      responses: {
        input: [
          { role: "user", content: "Hello" },
          {
            type: "message",
            role: "assistant",
            content: [
              {
                type: "output_text",
                text: "It rains.",
                annotations: [
                  {
                    type: "url_citation",
                    url: "https://example.com/MARKER",
                    title: "Rain",
                    start_index: 0,
                    end_index: 9,
                  },
                ],
              },
            ],
          },
          { role: "user", content: "Sure?" },
        ],
      },
      messages: {
        messages: [
          { role: "user", content: "Hello" },
          {
            role: "assistant",
            content: [
              {
                type: "text",
                text: "It rains.",
                citations: [
                  {
                    type: "web_search_result_location",
                    url: "https://example.com/MARKER",
                    title: "Rain",
                    cited_text: "rain",
                    encrypted_index: "MARKER-index",
                  },
                ],
              },
            ],
          },
          { role: "user", content: "Sure?" },
        ],
      },
    },
    kept: {
      "openai-responses": { "input[1].content[].annotations[].url": "https://example.com/MARKER" },
      "anthropic-messages": { "messages[1].content[].citations[].encrypted_index": "MARKER-index" },
    },
    field: /citations/,
    needless: {
      "openai-chat": "requests in this format have no citations; the citing text is sent",
      "anthropic-messages": "citations of other vendors have no usable document index; the text is sent",
      gemini: "requests in this format have no citations; the citing text is sent",
      "bedrock-converse": "Converse accepts only citations of its own documents; the text is sent",
      "cohere-chat": "requests in this format need no citations; the citing text is sent",
    },
  },
];
