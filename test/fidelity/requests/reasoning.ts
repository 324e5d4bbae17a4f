import { REASONING_ORIGINS } from "../../../src/wire/canonical/model/parts.ts";
import {
  type CarriedReasoning,
  wrapReasoning,
} from "../../../src/wire/canonical/model/reasoning-envelope.ts";
import { CHAT_IMAGE, IMAGE, MESSAGES_IMAGE } from "./media.ts";
import { answered, called, type RequestCase } from "./request-case.ts";

const THOUGHT = "MARKER-thought";
const SIGNATURE = "TUFSS0VScHJvb2Y=";
const FOREIGN = "only its vendor can read it; others would reject it, or charge for it without effect";
const unreadable = (formats: readonly string[]) =>
  Object.fromEntries(formats.map((format) => [format, FOREIGN])) as NonNullable<RequestCase["needless"]>;

/** Wraps reasoning of another vendor as clients of Messages and Responses carry it. */
function envelope(carried: Partial<CarriedReasoning>): string {
  return wrapReasoning({
    signature: null,
    encrypted: null,
    id: null,
    origin: null,
    isSummary: false,
    ...carried,
  });
}

/** A signature next to its part, in a Responses input and in a Messages turn. */
const signatureOf = (id: string) => envelope({ signature: SIGNATURE, id, origin: REASONING_ORIGINS.gemini });
const signatureItem = (id: string) => ({
  type: "reasoning",
  id: "rs_1",
  summary: [],
  encrypted_content: signatureOf(id),
});
const signatureBlock = (id: string) => ({ type: "redacted_thinking", data: signatureOf(id) });

/** Parameters that control reasoning. */
export const REASONING_PARAMETERS: readonly RequestCase[] = [
  {
    name: "reasoning effort",
    bodies: {
      chat: { max_tokens: 30_000, reasoning_effort: "high" },
      responses: { max_output_tokens: 30_000, reasoning: { effort: "high" } },
      messages: { max_tokens: 30_000, thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    },
    kept: {
      "openai-chat": { reasoning_effort: "high" },
      "openai-responses": { "reasoning.effort": "high" },
      "anthropic-messages": { "output_config.effort": "high" },
      gemini: { "generationConfig.thinkingConfig.thinkingLevel": "HIGH" },
      "bedrock-converse": {
        "additionalModelRequestFields.thinking": { type: "enabled", budget_tokens: 16_384 },
      },
      "cohere-chat": { thinking: { type: "enabled" } },
    },
    field: /reasoning/,
  },
  {
    name: "reasoning budget",
    bodies: {
      chat: { max_tokens: 8_000, reasoning: { max_tokens: 4_711 } },
      messages: { max_tokens: 8_000, thinking: { type: "enabled", budget_tokens: 4_711 } },
    },
    kept: {
      "openai-chat": [{ "reasoning.max_tokens": 4_711 }, { reasoning_effort: "medium" }],
      "openai-responses": { "reasoning.effort": "medium" },
      "anthropic-messages": { "thinking.budget_tokens": 4_711 },
      gemini: { "generationConfig.thinkingConfig.thinkingLevel": "LOW" },
      "bedrock-converse": { "additionalModelRequestFields.thinking.budget_tokens": 4_711 },
      "cohere-chat": { "thinking.token_budget": 4_711 },
    },
    field: /reasoning/,
  },
  {
    name: "no reasoning",
    bodies: {
      chat: { reasoning: { enabled: false } },
      responses: { reasoning: { effort: "none" } },
      messages: { thinking: { type: "disabled" } },
    },
    kept: {
      "openai-chat": [{ "reasoning.enabled": false }, { reasoning_effort: "none" }],
      "openai-responses": { "reasoning.effort": "none" },
      "anthropic-messages": { "thinking.type": "disabled" },
      gemini: { "generationConfig.thinkingConfig.thinkingBudget": 0 },
      "bedrock-converse": { "additionalModelRequestFields.thinking.type": "disabled" },
      "cohere-chat": { "thinking.type": "disabled" },
    },
    field: /reasoning/,
  },
  {
    name: "reasoning summaries",
    bodies: {
      chat: { reasoning: { effort: "high", summary: "detailed" } },
      responses: { reasoning: { effort: "high", summary: "detailed" } },
      messages: { max_tokens: 8_000, thinking: { type: "adaptive", display: "summarized" } },
    },
    kept: {
      "openai-chat": { "reasoning.summary": "detailed" },
      "openai-responses": { "reasoning.summary": /detailed|auto/ },
      "anthropic-messages": [
        { "thinking.display": "summarized" },
        // Reasoning is shown unless `display` excludes it.
        { "thinking.type": "enabled" },
      ],
      gemini: { "generationConfig.thinkingConfig.includeThoughts": true },
      "bedrock-converse": { "additionalModelRequestFields.thinking.type": "enabled" },
      "cohere-chat": { "thinking.type": "enabled" },
    },
    field: /reasoning/,
    needless: {
      "openai-chat": "hosts of this format return the reasoning that they have",
    },
  },
  {
    name: "hidden reasoning",
    bodies: {
      chat: { reasoning: { effort: "high", exclude: true } },
      messages: { max_tokens: 8_000, thinking: { type: "adaptive", display: "omitted" } },
    },
    kept: {
      "openai-chat": { "reasoning.exclude": true },
      "anthropic-messages": { "thinking.display": "omitted" },
      gemini: { "generationConfig.thinkingConfig.includeThoughts": false },
    },
    field: /reasoning/,
    needless: {
      "openai-chat": "the gateway leaves it out of the answer",
      "openai-responses": "reasoning is returned only on request",
      "bedrock-converse": "the gateway leaves it out of the answer",
      "cohere-chat": "the gateway leaves it out of the answer",
    },
  },
];

/** Reasoning of earlier turns, sent back. */
export const SENT_BACK: readonly RequestCase[] = [
  {
    name: "reasoning signed by Claude",
    bodies: called({
      chat: {
        message: {
          reasoning: THOUGHT,
          reasoning_details: [
            {
              type: "reasoning.text",
              text: THOUGHT,
              signature: SIGNATURE,
              format: REASONING_ORIGINS.anthropic,
              index: 0,
            },
          ],
        },
      },
      responses: {
        before: [
          {
            type: "reasoning",
            id: "rs_1",
            summary: [{ type: "summary_text", text: THOUGHT }],
            encrypted_content: envelope({ signature: SIGNATURE, origin: REASONING_ORIGINS.anthropic }),
          },
        ],
      },
      messages: { before: [{ type: "thinking", thinking: THOUGHT, signature: SIGNATURE }] },
    }),
    kept: {
      "openai-chat": {
        "messages[1].reasoning_details[0]": {
          text: THOUGHT,
          signature: SIGNATURE,
          format: "anthropic-claude-v1",
        },
      },
      "anthropic-messages": {
        "messages[1].content[0]": { type: "thinking", thinking: THOUGHT, signature: SIGNATURE },
      },
      "bedrock-converse": {
        "messages[1].content[0].reasoningContent.reasoningText": { text: THOUGHT, signature: SIGNATURE },
      },
    },
    field: /[Rr]easoning/,
    needless: unreadable(["openai-responses", "gemini"]),
  },
  {
    name: "reasoning redacted by Claude",
    bodies: called({
      chat: {
        message: {
          reasoning_details: [
            { type: "reasoning.encrypted", data: SIGNATURE, format: REASONING_ORIGINS.anthropic, index: 0 },
          ],
        },
      },
      responses: {
        before: [
          {
            type: "reasoning",
            id: "rs_1",
            summary: [],
            encrypted_content: envelope({ encrypted: SIGNATURE, origin: REASONING_ORIGINS.anthropic }),
          },
        ],
      },
      messages: { before: [{ type: "redacted_thinking", data: SIGNATURE }] },
    }),
    kept: {
      "openai-chat": {
        "messages[1].reasoning_details[0]": { data: SIGNATURE, format: "anthropic-claude-v1" },
      },
      "anthropic-messages": { "messages[1].content[0]": { type: "redacted_thinking", data: SIGNATURE } },
      "bedrock-converse": { "messages[1].content[0].reasoningContent.redactedContent": SIGNATURE },
    },
    field: /[Rr]easoning/,
    needless: unreadable(["openai-responses", "gemini"]),
  },
  {
    name: "reasoning encrypted by OpenAI, with a summary",
    bodies: called({
      chat: {
        message: {
          reasoning_details: [
            {
              type: "reasoning.summary",
              summary: THOUGHT,
              id: "rs_MARKER",
              format: REASONING_ORIGINS.openai,
              index: 0,
            },
            {
              type: "reasoning.encrypted",
              data: SIGNATURE,
              id: "rs_MARKER",
              format: REASONING_ORIGINS.openai,
              index: 1,
            },
          ],
        },
      },
      responses: {
        before: [
          {
            type: "reasoning",
            id: "rs_MARKER",
            summary: [{ type: "summary_text", text: THOUGHT }],
            encrypted_content: SIGNATURE,
          },
        ],
      },
      messages: {
        before: [
          {
            type: "thinking",
            thinking: THOUGHT,
            signature: envelope({
              encrypted: SIGNATURE,
              id: "rs_MARKER",
              origin: REASONING_ORIGINS.openai,
              isSummary: true,
            }),
          },
        ],
      },
    }),
    kept: {
      "openai-chat": { "messages[1].reasoning_details[]": { data: SIGNATURE, id: "rs_MARKER" } },
      "openai-responses": {
        "input[1]": {
          type: "reasoning",
          id: "rs_MARKER",
          encrypted_content: SIGNATURE,
          summary: [{ type: "summary_text", text: THOUGHT }],
        },
      },
    },
    field: /[Rr]easoning/,
    needless: unreadable(["anthropic-messages", "gemini"]),
  },
  {
    name: "reasoning encrypted by xAI",
    bodies: called({
      chat: {
        message: {
          reasoning_details: [
            {
              type: "reasoning.encrypted",
              data: SIGNATURE,
              id: "rs_01234567-89ab-cdef-0123-456789abcdef",
              format: REASONING_ORIGINS.xai,
              index: 0,
            },
          ],
        },
      },
      responses: {
        before: [
          {
            type: "reasoning",
            id: "rs_01234567-89ab-cdef-0123-456789abcdef",
            summary: [],
            encrypted_content: SIGNATURE,
          },
        ],
      },
    }),
    kept: { "openai-chat": { "messages[1].reasoning_details[].data": SIGNATURE } },
    field: /[Rr]easoning/,
    needless: unreadable(["anthropic-messages", "gemini"]),
  },
  {
    name: "unsigned reasoning",
    bodies: called({
      chat: { message: { reasoning_content: THOUGHT } },
      responses: {
        before: [{ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: THOUGHT }] }],
      },
      messages: { before: [{ type: "thinking", thinking: THOUGHT, signature: envelope({}) }] },
    }),
    kept: {
      "openai-chat": { "messages[1].reasoning_content": THOUGHT },
      "openai-responses": { "input[1].summary[].text": THOUGHT },
      "cohere-chat": { "messages[1].content[]": { type: "thinking", thinking: THOUGHT } },
    },
    field: /[Rr]easoning/,
    needless: {
      "openai-responses": "the vendor does not read reasoning that it did not write",
      "anthropic-messages": "the vendor rejects reasoning that it did not sign",
      gemini: "the vendor accepts only what it signed",
    },
  },
  {
    name: "Gemini's thought signature on a call",
    bodies: called({
      chat: { call: { extra_content: { google: { thought_signature: SIGNATURE } } } },
      responses: {
        before: [
          {
            type: "reasoning",
            id: "rs_1",
            summary: [],
            encrypted_content: envelope({
              signature: SIGNATURE,
              id: "proof:call:call_1",
              origin: REASONING_ORIGINS.gemini,
            }),
          },
        ],
      },
      messages: {
        before: [
          {
            type: "redacted_thinking",
            data: envelope({
              signature: SIGNATURE,
              id: "proof:call:call_1",
              origin: REASONING_ORIGINS.gemini,
            }),
          },
        ],
      },
    }),
    kept: {
      "openai-chat": { "messages[1].tool_calls[0].extra_content.google.thought_signature": SIGNATURE },
      gemini: { "contents[1].parts[0]": { functionCall: { name: "look" }, thoughtSignature: SIGNATURE } },
    },
    field: /[Rr]easoning|signature/,
    needless: unreadable(["openai-responses", "anthropic-messages", "bedrock-converse", "cohere-chat"]),
  },
  {
    name: "Gemini's thought signature on a text",
    bodies: answered({
      chat: { content: "Oslo.", extra_content: { google: { thought_signature: SIGNATURE } } },
      responses: [
        signatureItem("proof:text-behind"),
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Oslo." }] },
      ],
      messages: [signatureBlock("proof:next-text"), { type: "text", text: "Oslo." }],
    }),
    kept: {
      "openai-chat": [
        { "messages[1].extra_content.google.thought_signature": SIGNATURE },
        { "messages[1].reasoning_details[]": { type: "reasoning.encrypted", data: SIGNATURE } },
      ],
      gemini: { "contents[1].parts[]": { text: "Oslo.", thoughtSignature: SIGNATURE } },
    },
    field: /[Rr]easoning|signature/,
    needless: unreadable(["openai-responses", "anthropic-messages", "bedrock-converse", "cohere-chat"]),
  },
  {
    name: "Gemini's thought signature on an image",
    bodies: answered({
      chat: {
        content: null,
        images: [{ ...CHAT_IMAGE, extra_content: { google: { thought_signature: SIGNATURE } } }],
      },
      responses: [signatureItem("proof:image-behind"), { type: "image_generation_call", result: IMAGE }],
      messages: [signatureBlock("proof:next-image"), MESSAGES_IMAGE],
    }),
    kept: {
      "openai-chat": { "messages[1].images[].extra_content.google.thought_signature": SIGNATURE },
      gemini: { "contents[1].parts[]": { inlineData: { data: IMAGE }, thoughtSignature: SIGNATURE } },
    },
    field: /messages/,
    needless: unreadable(["openai-responses"]),
  },
];
