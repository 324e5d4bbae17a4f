/** A person at an OpenID Connect provider, and the user that the person is here. */
export interface Identity {
  /** The `iss` of the provider. */
  readonly issuer: string;
  /** The `sub` of the person, which is unique at the provider and never given to another person. */
  readonly subject: string;
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Stores identities. Several processes may share one. */
export interface IdentityStore {
  findIdentity(issuer: string, subject: string): Promise<Identity | null>;
  /** Adds an identity. Returns false, and changes nothing, if it is already linked to a user. */
  addIdentity(identity: Identity): Promise<boolean>;
  /** Returns identities, the oldest first. */
  listIdentities(limit: number): Promise<readonly Identity[]>;
  /** Removes an identity. Returns false if there was none. */
  removeIdentity(issuer: string, subject: string): Promise<boolean>;
}
