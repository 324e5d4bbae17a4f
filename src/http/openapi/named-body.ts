import { z } from "zod";

/**
 * Returns the schema of a body, or of an object in bodies, that may have fields besides those of its shape. The document has it under
 * its id. A description may precede the shape.
 */
export function namedBody<Shape extends z.ZodRawShape>(
  id: string,
  ...rest: [shape: Shape] | [description: string, shape: Shape]
) {
  const [shape, description] = rest.toReversed() as [Shape, string?];
  return z.looseObject(shape).meta({ id, ...(description === undefined ? {} : { description }) });
}
