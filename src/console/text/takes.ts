/** The texts about what endpoints take of the parameters of requests. */
export const takesText = {
  title: "Parameters",
  about:
    "Parameters that an endpoint does not accept with every value, and the source of each rule. Values that it does not accept are left out or limited, and the answer has a warning.",
  rules: (count: number) => (count === 1 ? "1 rule" : `${count} rules`),
  everything: "no rule: everything is sent",
  columns: { parameter: "Parameter", taken: "What is sent", source: "Source" },
  yes: "Every value",
  no: "Left out",
  list: "A single text as a list",
  only: (values: string) => `Only ${values}`,
  between: (min: number, max: number) => `${min} to ${max}`,
  atLeast: (min: number) => `At least ${min}`,
  atMost: (max: number) => `At most ${max}`,
  notBeside: (what: string) => `Not beside ${what}`,
  whileReasoning: "while it reasons",
  sources: {
    format: "API format",
    provider: "Provider",
    model: "Model",
    family: "Model family",
    configuration: "Configuration",
  },
};
