import { text } from "../../text/text.ts";

/** The list above the pages of single models. */
export const MODELS_LIST = { title: text.models.title, address: "/console/models" } as const;
