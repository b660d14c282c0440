/** What is used of a path of Babel's. */
interface NodePath {
  readonly listKey?: string;
  readonly parent?: {
    readonly callee?: { readonly property?: { readonly name?: string } };
  };
}

/** A plugin for Stryker that leaves out the argument of `.meta()`: what a schema says of itself in the API's document. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'descriptions',
    value: {
      shouldIgnore: ({ listKey, parent }: NodePath) =>
        listKey === 'arguments' && parent?.callee?.property?.name === 'meta'
          ? 'describes the API'
          : undefined,
    },
  },
];
