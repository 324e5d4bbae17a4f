import type { ParameterRule } from "../../../wire/conversation/parameter-rules.ts";
import type { ParameterStatement, TakesSource } from "../records/records.ts";

/** A statement about a parameter that an endpoint takes, in responses. The members of a rule are those of the configuration. */
interface PublicStatement {
  readonly parameter: string;
  /** `some`: as the members below say. `values` may be empty in addition to `while_reasoning`. */
  readonly taken: "yes" | "no" | "some";
  readonly values?: ParameterRule["values"];
  readonly min?: number;
  readonly max?: number;
  readonly list?: true;
  readonly while_reasoning?: true;
  readonly not_with?: ParameterRule["notWith"];
  readonly source: TakesSource;
}

/** Presents what an endpoint takes of parameters. A rule without any value is a refusal. */
export function presentTakes(statements: readonly ParameterStatement[]): readonly PublicStatement[] {
  return statements.map(({ parameter, taken, source }) => {
    if (typeof taken === "string") return { parameter, taken, source };
    const { values, min, max, list, whileReasoning, notWith } = taken;
    if (values?.length === 0 && whileReasoning === undefined) return { parameter, taken: "no", source };
    return {
      parameter,
      taken: "some",
      ...(values === undefined ? {} : { values }),
      ...(min === undefined ? {} : { min }),
      ...(max === undefined ? {} : { max }),
      ...(list === undefined ? {} : { list }),
      ...(whileReasoning === undefined ? {} : { while_reasoning: whileReasoning }),
      ...(notWith === undefined ? {} : { not_with: notWith }),
      source,
    };
  });
}
