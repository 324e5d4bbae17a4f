/** A model that every gateway with a provider has: the tier that chooses one. */
export const EXAMPLE_MODEL = "gateway-auto/balanced";
/** The models that examples use, the best one first: the tier that chooses a model, otherwise the sandbox. */
const FITTING = [EXAMPLE_MODEL, "sandbox/echo"];

/** Returns a served model for an example request. Before the models are known it is the tier that every gateway has. */
export function chooseExampleModel(served: readonly string[]): string {
  return FITTING.find((id) => served.includes(id)) ?? served[0] ?? EXAMPLE_MODEL;
}
