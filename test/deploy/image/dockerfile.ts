import { readFileSync } from 'node:fs';
import { Copy, DockerfileParser } from 'dockerfile-ast';
import { ROOT } from '../root.ts';

/** One instruction: `COPY`, its stage if it has one, and the rest of the line. */
export interface Step {
  readonly keyword: string;
  readonly from: string | undefined;
  readonly text: string;
}

export interface Stage {
  /** An external image, the name of an earlier stage, or `scratch`. */
  readonly from: string;
  readonly steps: readonly Step[];
}

/** The stages of the Dockerfile by name, in order; global arguments have their default values. */
export const STAGES: ReadonlyMap<string, Stage> = readStages();

function readStages(): Map<string, Stage> {
  const dockerfile = DockerfileParser.parse(readFileSync(`${ROOT}deploy/docker/Dockerfile`, 'utf8'));
  const [nodeImage] = dockerfile.getInitialARGs();
  const stages = new Map<string, Stage>();
  let steps: Step[] = [];
  for (const instruction of dockerfile.getInstructions()) {
    const keyword = instruction.getKeyword();
    const text = instruction.getArgumentsContent() ?? '';
    if (keyword === 'FROM') {
      const [image = '', , name = ''] = text.split(/\s+/);
      steps = [];
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as the Dockerfile has it.
      const from = image === '${NODE_IMAGE}' ? nodeImage?.getProperty()?.getValue() : image;
      stages.set(name, { from: from ?? '', steps });
      continue;
    }
    const from = instruction instanceof Copy ? instruction.getFromFlag()?.getValue() : undefined;
    steps.push({ keyword, from: from ?? undefined, text });
  }
  return stages;
}

/** The steps of a stage and of its base stages. */
export function allSteps(name: string): Step[] {
  const stage = STAGES.get(name);
  return stage === undefined ? [] : [...allSteps(stage.from), ...stage.steps];
}

export const lastOf = (name: string, keyword: string) =>
  allSteps(name).findLast((step) => step.keyword === keyword)?.text ?? '';

/** The ports of an image: of the API, then of operations. */
export const exposedPorts = (target: string) => lastOf(target, 'EXPOSE').split(' ').filter(Boolean);

/** The words of the exec form `["a", "b"]`, which needs no shell. @throws SyntaxError for any other form */
export const execForm = (text: string): string[] => JSON.parse(text);
