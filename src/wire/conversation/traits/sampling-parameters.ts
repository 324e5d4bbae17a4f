/** Request parameters, as in `supported_parameters`, that depend on format and provider instead of the model. The catalog's source does not list them. */
export const SAMPLING_PARAMETERS = [
  "frequency_penalty",
  "logprobs",
  "n",
  "presence_penalty",
  "seed",
  "stop",
  "top_logprobs",
] as const;
export type SamplingParameter = (typeof SAMPLING_PARAMETERS)[number];
