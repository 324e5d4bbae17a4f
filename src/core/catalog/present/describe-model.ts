import { joinWords } from "../../../base/text/join-words.ts";
import { actionOf, type ModelAction } from "../records/action-of.ts";
import { mayReason } from "../records/may-reason.ts";
import type { ModelRecord } from "../records/records.ts";

/** The modalities of a model, as sentences name them. */
const NOUNS: Readonly<Record<string, string>> = {
  text: "text",
  image: "images",
  file: "files",
  audio: "audio",
  video: "video",
};

/** Descriptions of models, by their purpose. */
const PURPOSES: Readonly<Record<Exclude<ModelAction, "chat">, string>> = {
  embeddings: "turns texts into embeddings",
  moderations: "classifies texts and images by what they contain",
  rerank: "ranks documents by how well they fit a query",
  images: "makes images",
  speech: "speaks texts",
  transcriptions: "transcribes audio",
};

/**
 * Describes a model in a sentence or two from the facts of the catalog, for models without a description by their author. `contextLength`
 * is in tokens.
 */
export function describeModel(model: ModelRecord, contextLength: number): string {
  const action = actionOf(model);
  if (action !== "chat") return `${model.name} ${PURPOSES[action]}.`;
  const abilities = [
    ...(mayReason(model) ? ["reasons"] : []),
    ...(model.supportedParameters.includes("tools") ? ["calls tools"] : []),
  ];
  const more = abilities.length === 0 ? "" : ` It ${abilities.join(" and ")}.`;
  const window = `Its context window has ${contextLength.toLocaleString("en-US")} tokens.`;
  return `${model.name} takes ${listNouns(model.inputModalities)} and answers with ${listNouns(model.outputModalities)}.${more} ${window}`;
}

function listNouns(modalities: readonly string[]): string {
  return joinWords(
    modalities.map((modality) => NOUNS[modality] ?? modality),
    "and",
  );
}
