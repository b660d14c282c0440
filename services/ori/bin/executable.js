// The main program of the executable, which contains its own Node (deploy/bundle/executable.ts).
import { main } from '../src/main.ts';

void main();
