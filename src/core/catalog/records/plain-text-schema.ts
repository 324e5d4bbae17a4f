import { z } from "zod";
import { hasControls } from "../../../base/text/plain-text.ts";

/**
 * The schema of a text without line breaks, other controls, and overrides of the direction of writing: names and notes are shown in
 * terminals, logs and lists.
 */
export const PlainText = z
  .string()
  .refine(
    (text) => !hasControls(text),
    "must have no line breaks, control characters, or overrides of the direction of writing",
  );
