/**
 * Connects to the data of the running test and returns a store over it. The data has no records when a test begins, apart from
 * the operator's account. Each call within a test opens a connection of its own, as a further process would.
 */
export type CreateStore<Store> = () => Store | Promise<Store>;
