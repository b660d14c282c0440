package lab;

import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.oauth2.server.authorization.token.JwtEncodingContext;
import org.springframework.security.oauth2.server.authorization.token.OAuth2TokenCustomizer;

/** Spring Authorization Server as Boot configures it, with access tokens of RFC 9068 for one API. */
@SpringBootApplication
public class App {
  public static void main(String[] arguments) {
    SpringApplication.run(App.class, arguments);
  }

  @Bean
  OAuth2TokenCustomizer<JwtEncodingContext> rfc9068() {
    return context -> {
      if (!"access_token".equals(context.getTokenType().getValue())) return;
      context.getJwsHeader().type("at+jwt");
      context
          .getClaims()
          .audience(List.of(System.getenv("AUDIENCE")))
          .claim("client_id", context.getRegisteredClient().getClientId())
          .claim("scope", String.join(" ", context.getAuthorizedScopes()));
    };
  }
}
