import { Controller, HttpCode, Module, Post, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createRemoteKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { provenOf, requireProof } from '@ori/verifier/express';

const keys = createRemoteKeySet('https://ori.example/v1/interns/int_7Qm2/daemon/jwks.json');
const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay: memoryReplayStore() });

@Controller('api')
class InvokeController {
  @Post('invoke')
  @HttpCode(200)
  invoke(@Req() request: object) {
    const { proof, body } = provenOf(request);
    return { user: proof.user, prompt: JSON.parse(body.toString()).prompt };
  }
}

@Module({ controllers: [InvokeController] })
class AppModule {}

const app = await NestFactory.create(AppModule, { bodyParser: false });
app.use('/api', requireProof(verifier, { bodyBytesMax: 1_000_000 }));
await app.listen(8080);
