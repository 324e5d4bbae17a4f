/** What a request uses that not every offer of its model takes. */
export interface RequestNeeds {
  /** Input modalities beyond text, and `tools`: an offer that lacks one cannot serve the request. */
  readonly features: readonly string[];
  /** Request parameters that it sets, in the words of `supported_parameters`. */
  readonly parameters: readonly string[];
  /** The field of the body that the modalities are in. */
  readonly contentField: string;
}

/** Text, and nothing set. */
export const NO_NEEDS: RequestNeeds = { features: [], parameters: [], contentField: "messages" };
