import type { Fields } from "../../base/json/fields.ts";
import type { ConversationRequest } from "../canonical/model/request.ts";
import type { BedrockEncoding } from "./encoding.ts";
import { thinksAdaptively } from "./model-family.ts";
import type { ReasoningPlan } from "./plan-reasoning.ts";

/** Sampling parameters and the token limit. */
interface EncodedSampling {
  readonly inferenceConfig: Fields;
  /** Fields that only the model's own API has. */
  readonly modelFields: Fields;
}

/** The least `top_p` that Claude accepts while it thinks. */
const MIN_THINKING_TOP_P = 0.95;

/** Encodes the sampling parameters that Converse and the model accept, and warns of the others. */
export function encodeSampling(
  request: ConversationRequest,
  plan: ReasoningPlan,
  encoding: BedrockEncoding,
): EncodedSampling {
  const { temperature, topP, topK } = chooseSampling(request, plan, encoding);
  const maxTokens = plan.maxTokens ?? request.maxTokens;
  const stop = chooseStops(request.stop, encoding);
  return {
    inferenceConfig: {
      ...(maxTokens === null ? {} : { maxTokens }),
      ...(temperature === null ? {} : { temperature }),
      ...(topP === null ? {} : { topP }),
      ...(stop.length === 0 ? {} : { stopSequences: stop }),
    },
    modelFields: topK === null ? {} : encodeTopK(topK, encoding),
  };
}

interface Sampling {
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
}

function chooseSampling(
  request: ConversationRequest,
  plan: ReasoningPlan,
  encoding: BedrockEncoding,
): Sampling {
  const { warn } = encoding;
  const drop = (field: string, value: number | null, why: string): null => {
    if (value !== null) warn(field, `${why}; it was left out.`);
    return null;
  };
  const temperature = limitTemperature(request.temperature, encoding);
  const { topP, topK } = request;
  if (encoding.family !== "claude") return { temperature, topP, topK };
  if (thinksAdaptively(encoding.target)) {
    const why = "This model chooses its tokens itself";
    return {
      temperature: drop("temperature", temperature, why),
      topP: drop("top_p", topP, why),
      topK: drop("top_k", topK, why),
    };
  }
  if (plan.thinks) {
    const why = "This model does not take it while it reasons";
    return {
      temperature: temperature === 1 ? 1 : drop("temperature", temperature, why),
      topP:
        topP !== null && topP >= MIN_THINKING_TOP_P && temperature === null ? topP : drop("top_p", topP, why),
      topK: drop("top_k", topK, why),
    };
  }
  const takesBoth = temperature === null || topP === null;
  return {
    temperature,
    topP: takesBoth ? topP : drop("top_p", topP, "This model does not take it beside temperature"),
    topK,
  };
}

/** Clients send 0 to 2, Converse takes 0 to 1. */
function limitTemperature(temperature: number | null, { warn }: BedrockEncoding): number | null {
  if (temperature === null || temperature <= 1) return temperature;
  warn("temperature", "This provider accepts at most 1; it was set to 1.");
  return 1;
}

function encodeTopK(topK: number, { family, warn }: BedrockEncoding): Fields {
  if (family === "claude") return { top_k: topK };
  if (family === "nova") return { inferenceConfig: { topK } };
  warn("top_k", "This model does not support it; it was left out.");
  return {};
}

/** Bedrock rejects blank stop sequences. */
function chooseStops(stop: readonly string[], { warn }: BedrockEncoding): readonly string[] {
  const chosen = stop.filter((sequence) => sequence.trim() !== "");
  if (chosen.length < stop.length) warn("stop", "Stop sequences of blanks were left out.");
  return chosen;
}
