import org.openapitools.client.ApiClient;
import org.openapitools.client.api.GuardrailsApi;
import org.openapitools.client.api.InternsApi;
import org.openapitools.client.model.Guardrail;
import org.openapitools.client.model.GuardrailCreate;
import org.openapitools.client.model.Intern;

class Use {
  static ApiClient of(String key) {
    ApiClient client = new ApiClient().setBasePath(System.getenv("ORI_BASE_URL"));
    client.setBearerToken(System.getenv(key));
    return client;
  }

  public static void main(String[] words) throws Exception {
    System.out.print("lists ");
    for (Intern each : new InternsApi(of("ORI_API_KEY")).listInterns(null, null, null, null).getData())
      System.out.print(each.getName() + ",");
    GuardrailCreate wanted = new GuardrailCreate().name("made").limitUsd(5.0);
    wanted.resetInterval(GuardrailCreate.ResetIntervalEnum.DAILY);
    GuardrailsApi guardrails = new GuardrailsApi(of("ORI_MANAGEMENT_KEY"));
    Guardrail made = guardrails.createGuardrail(wanted, null, null, null, null).getData();
    System.out.println("\ncreates " + made.getName() + " " + made.getResetInterval() + " " + made.getDescription());
  }
}
