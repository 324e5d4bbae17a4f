/** The features and parameters of a request that not every deployment of its model supports. */
export interface RequestNeeds {
  /** Input modalities other than text, and `tools`: a deployment without one of them cannot serve the request. */
  readonly features: readonly string[];
  /** The parameters that it sets, in the terms of `supported_parameters`. */
  readonly parameters: readonly string[];
  /** The field of the body that holds the modalities. */
  readonly contentField: string;
}

/** A request of plain text without parameters. */
export const NO_NEEDS: RequestNeeds = { features: [], parameters: [], contentField: "messages" };
