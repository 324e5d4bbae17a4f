/** An owner of an organization. */
interface Owner {
  readonly userId: string;
  /** The user's account exists and is not closed. */
  readonly isOpen: boolean;
}

/** Returns whether an organization would have no owner with an open account without this one. */
export function isLastOwner(owners: readonly Owner[], userId: string): boolean {
  const isOwner = owners.some((owner) => owner.userId === userId);
  return isOwner && !owners.some((owner) => owner.userId !== userId && owner.isOpen);
}
