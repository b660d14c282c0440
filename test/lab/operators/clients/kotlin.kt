import org.openapitools.client.apis.GuardrailsApi
import org.openapitools.client.apis.InternsApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.models.GuardrailCreate

fun main() {
    val base = System.getenv("ORI_BASE_URL")
    ApiClient.accessToken = System.getenv("ORI_API_KEY")
    println("lists " + InternsApi(base).listInterns().data.joinToString(",") { it.name })
    ApiClient.accessToken = System.getenv("ORI_MANAGEMENT_KEY")
    val daily = GuardrailCreate.ResetInterval.daily
    val wanted = GuardrailCreate(name = "made", limitUsd = 5.0, resetInterval = daily)
    val made = GuardrailsApi(base).createGuardrail(wanted).data
    println("creates ${made.name} ${made.resetInterval} ${made.description}")
}
