import { rejectField } from "../../base/failures/errors.ts";

/** A preset that a request names. */
export interface NamedPreset {
  /** `@` and the name, in lower case. */
  readonly name: string;
  /** The model that the request names in addition to the preset; null for the preset's model. */
  readonly model: string | null;
  /** The field that names the preset. */
  readonly field: "model" | "preset";
}

const NAMED = /^@(?:preset\/)?([a-z0-9][a-z0-9._-]*)$/i;
const IN_MODEL = "@preset/";

/**
 * Returns the preset that a request names in `model` (`@name`, `@preset/name`, `author/model@preset/name`) or in `preset`; null if it
 * names none. Called for every request.
 * @throws GatewayError `invalid_request` if it names two presets, or if `preset` is no name.
 */
export function namePreset({
  model,
  preset,
}: {
  readonly model: string;
  readonly preset: string | null;
}): NamedPreset | null {
  const at = model.indexOf("@");
  if (at < 0 && preset === null) return null;
  const inModel = at < 0 ? null : findInModel(model, at);
  if (preset === null) return inModel;
  if (inModel !== null) rejectField("preset", "must not stand beside a model that names a preset");
  const name = NAMED.exec(preset)?.[1] ?? NAMED.exec(`@${preset}`)?.[1];
  if (name === undefined) return rejectField("preset", 'must be the name of a preset, such as "review"');
  return { name: `@${name.toLowerCase()}`, model, field: "preset" };
}

function findInModel(model: string, at: number): NamedPreset | null {
  // A model's id may contain an @, so only the long form may follow one.
  const start = at === 0 ? 0 : model.indexOf(IN_MODEL);
  if (start < 0) return null;
  const name = NAMED.exec(model.slice(start))?.[1];
  if (name === undefined) return null;
  return {
    name: `@${name.toLowerCase()}`,
    model: start === 0 ? null : model.slice(0, start),
    field: "model",
  };
}
