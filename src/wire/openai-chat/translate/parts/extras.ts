import { createFormatExtras } from "../../../canonical/model/format-extras.ts";

/** The extras of the chat format. */
export const { keepExtras, withExtras, keptFields, keptSpelling } = createFormatExtras("openai-chat");
