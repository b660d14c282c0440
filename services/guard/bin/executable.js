// The main program of the executable, which contains its own Node (deploy/bundle/executable.ts).
import { runGuard } from '../src/run-guard.ts';

void runGuard();
