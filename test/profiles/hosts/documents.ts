import type { ProviderFormat } from "../../../src/wire/conversation/traits/format-name.ts";
import type { Schema } from "./schema.ts";

/** A document in which a vendor has published the request of an endpoint, and which hosts it is of. */
export interface VendorDocument {
  /** The name of its file in `published`. */
  readonly name: string;
  /** Slugs of the catalog's providers. */
  readonly hosts: readonly string[];
  readonly format: ProviderFormat;
  readonly source: string;
  readonly date: string;
  /** The file or, of an SDK, the folder above `types`, in the folder of downloaded documents. */
  readonly from: string;
  /** How the request is found in it. */
  readonly read:
    | { readonly openapi: string }
    | { readonly discovery: string }
    | { readonly serviceModel: string }
    | { readonly typedDict: string; readonly file: string };
  /** Fields that the document has only to say that they are not supported, by its texts. */
  readonly unsupported?: readonly string[];
  /** Fields that newer pages of the vendor name, each with its source. */
  readonly also?: Readonly<Record<string, { readonly schema: Schema; readonly source: string }>>;
  /** No report says that the host refuses unknown members of messages and tools, and members that the document requires may be absent there. */
  readonly isOpenBelow?: true;
  /** Members below the body that the document requires, and that the vendor's API and the libraries for it leave out. */
  readonly optional?: readonly string[];
  /** Members below the body that are not checked, although the host refuses others. */
  readonly unchecked?: readonly string[];
}

const OPENAI = "github.com/openai/openai-openapi, openapi.json, commit f85dbe22";
const GROQ = "pypi.org/project/groq 1.7.0";
const OPENROUTER = "github.com/OpenRouterTeam/typescript-sdk, .speakeasy/in.openapi.yaml, commit cb9393a8";
const XAI = "api.x.ai/api-docs/openapi.json, in github.com/gr2m/ai-provider-monitor, commit 0ed3b281";

/** All documents that are read. `write-published.ts` makes the files of `published` from them. */
export const VENDOR_DOCUMENTS: readonly VendorDocument[] = [
  {
    name: "openai-chat",
    hosts: ["openai"],
    format: "openai-chat",
    source: OPENAI,
    date: "2026-08-21",
    from: "openai.json",
    read: { openapi: "/chat/completions" },
  },
  {
    name: "openai-responses",
    hosts: ["openai"],
    format: "openai-responses",
    source: OPENAI,
    date: "2026-08-21",
    from: "openai.json",
    read: { openapi: "/responses" },
    // github.com/vercel/ai, packages/openai: answers of earlier turns are sent without ids, and images without a detail.
    optional: ["id", "status", "detail", "logprobs", "annotations"],
  },
  {
    name: "anthropic-messages",
    hosts: ["anthropic"],
    format: "anthropic-messages",
    // Its versions since 1.0 do not list the sampling parameters, which older models still take.
    source:
      "github.com/anthropics/anthropic-sdk-python, types/beta/message_create_params.py, commit 009b0353",
    date: "2026-08-07",
    from: "anthropic_aug",
    read: { typedDict: "MessageCreateParams", file: "types/beta/message_create_params.py" },
  },
  {
    name: "vertex-gemini",
    hosts: ["google-vertex"],
    format: "gemini",
    source:
      "aiplatform.googleapis.com/$discovery/rest?version=v1beta1, in pypi.org/project/google-api-python-client 2.202.0",
    date: "2026-11-28",
    from: "aiplatform.json",
    read: { discovery: "GoogleCloudAiplatformV1beta1GenerateContentRequest" },
  },
  {
    name: "bedrock-converse",
    hosts: ["amazon-bedrock"],
    format: "bedrock-converse",
    source: "pypi.org/project/botocore 1.44.8, data/bedrock-runtime/2023-09-30/service-2.json",
    date: "2026-11-28",
    from: "bedrock.json",
    read: { serviceModel: "ConverseRequest" },
  },
  {
    name: "cohere-chat",
    hosts: ["cohere"],
    format: "cohere-chat",
    source: "github.com/cohere-ai/cohere-developer-experience, cohere-openapi.yaml, commit e814c8a1",
    date: "2026-08-20",
    from: "cohere.yaml",
    read: { openapi: "/v2/chat" },
  },
  {
    name: "groq-chat",
    hosts: ["groq"],
    format: "openai-chat",
    source: GROQ,
    date: "2026-11-28",
    from: "groq",
    read: { typedDict: "CompletionCreateParams", file: "types/chat/completion_create_params.py" },
    unsupported: ["logit_bias", "top_logprobs", "metadata", "store"],
  },
  {
    name: "groq-responses",
    hosts: ["groq"],
    format: "openai-responses",
    source: "api.groq.com OpenAPI document 2.1, in github.com/gr2m/ai-provider-monitor, commit 0ed3b281",
    date: "2026-04-19",
    from: "groq.json",
    read: { openapi: "/openai/v1/responses" },
    isOpenBelow: true,
    // It has no reasoning of earlier turns, which Groq's own answers have, and a named tool as chats have it.
    unchecked: ["input"],
  },
  {
    name: "mistral-chat",
    hosts: ["mistral", "codestral"],
    format: "openai-chat",
    source: "github.com/mistralai/platform-docs-public, openapi.yaml, commit 222f4ba9",
    date: "2026-08-21",
    from: "mistral.yaml",
    read: { openapi: "/v1/chat/completions" },
    also: {
      service_tier: {
        schema: { type: "string" },
        source: "npmjs.com/package/@mistralai/mistralai 2.7.0, ChatCompletionRequest",
      },
    },
  },
  {
    name: "xai-chat",
    hosts: ["xai"],
    format: "openai-chat",
    source: XAI,
    date: "2026-04-19",
    from: "xai.json",
    read: { openapi: "/v1/chat/completions" },
    unsupported: ["logit_bias"],
    also: {
      service_tier: {
        schema: { enum: ["default", "priority"] },
        source: "docs.x.ai/developers/advanced-api-usage/priority-processing, 2026-11-28",
      },
    },
    isOpenBelow: true,
  },
  {
    name: "xai-responses",
    hosts: ["xai"],
    format: "openai-responses",
    source: XAI,
    date: "2026-04-19",
    from: "xai.json",
    read: { openapi: "/v1/responses" },
    isOpenBelow: true,
  },
  {
    name: "togetherai-chat",
    hosts: ["togetherai"],
    format: "openai-chat",
    source: "github.com/togethercomputer/openapi, openapi.yaml, commit 090263aa",
    date: "2026-04-28",
    from: "together.yaml",
    read: { openapi: "/chat/completions" },
    isOpenBelow: true,
  },
  {
    name: "venice-chat",
    hosts: ["venice"],
    format: "openai-chat",
    source: "github.com/veniceai/api-docs, swagger.yaml, commit 601b7bb1",
    date: "2026-08-22",
    from: "venice.yaml",
    read: { openapi: "/chat/completions" },
    unchecked: ["image_url", "reasoning_details"],
  },
  {
    name: "openrouter-chat",
    hosts: ["openrouter"],
    format: "openai-chat",
    source: OPENROUTER,
    date: "2026-08-22",
    from: "openrouter.yaml",
    read: { openapi: "/chat/completions" },
    also: {
      verbosity: {
        schema: { enum: ["low", "medium", "high", "xhigh", "max"] },
        source: "openrouter.ai/docs/api-reference/parameters, 2026-11-28",
      },
    },
    isOpenBelow: true,
  },
  {
    name: "openrouter-responses",
    hosts: ["openrouter"],
    format: "openai-responses",
    source: OPENROUTER,
    date: "2026-08-22",
    from: "openrouter.yaml",
    read: { openapi: "/responses" },
    isOpenBelow: true,
    unchecked: ["include"],
  },
  {
    name: "openrouter-messages",
    hosts: ["openrouter"],
    format: "anthropic-messages",
    source: OPENROUTER,
    date: "2026-08-22",
    from: "openrouter.yaml",
    read: { openapi: "/messages" },
    isOpenBelow: true,
  },
  {
    name: "cerebras-chat",
    hosts: ["cerebras"],
    format: "openai-chat",
    source: "pypi.org/project/cerebras-cloud-sdk 1.91.0",
    date: "2026-07-31",
    from: "cerebras_cloud_sdk",
    read: { typedDict: "CompletionCreateParams", file: "types/chat/completion_create_params.py" },
  },
  {
    name: "fireworks-chat",
    hosts: ["fireworks"],
    format: "openai-chat",
    source: "pypi.org/project/fireworks-ai 1.2.30",
    date: "2026-11-28",
    from: "fireworks_ai",
    read: { typedDict: "CompletionCreateParams", file: "types/chat/completion_create_params.py" },
  },
  {
    name: "fireworks-messages",
    hosts: ["fireworks"],
    format: "anthropic-messages",
    source: "pypi.org/project/fireworks-ai 1.2.30",
    date: "2026-11-28",
    from: "fireworks_ai",
    read: { typedDict: "MessageCreateParams", file: "types/message_create_params.py" },
    // Its types have cache marks in content but not in tools.
    unchecked: ["cache_control"],
  },
  {
    name: "perplexity-chat",
    hosts: ["perplexity"],
    format: "openai-chat",
    source: "pypi.org/project/perplexityai 0.46.1",
    date: "2026-11-28",
    from: "perplexityai",
    read: { typedDict: "CompletionCreateParams", file: "types/chat/completion_create_params.py" },
    isOpenBelow: true,
    // Its types have answers by a schema, and no JSON mode without one. The gateway has nothing to ask for instead.
    unchecked: ["response_format"],
  },
];
