# Gen.jl: polynomial regression by importance sampling from the prior and HMC; a JSON object a line, as protocol.py says.
#
# Never run: Octopus is made on a machine without Julia. It follows the documentation of Gen 0.4.
#
# Gen's HMC moves the choices themselves, without transforms, so that a program must have no bounds. It computes in f64 on
# one core of the CPU. Julia compiles a function in its first call: the start makes one, and its seconds beyond a
# second's are the compilation.

using Gen
using JSON
using Random

struct Cannot <: Exception
    why::String
end

@gen function polynomial(x::Vector{Float64}, noise::Float64)
    a ~ normal(0.0, 1.0)
    b ~ normal(0.0, 1.0)
    c ~ normal(0.0, 1.0)
    # One choice of all measurements: one node of the tape that gradients are taken from.
    y ~ broadcasted_normal(a .+ b .* x .+ c .* x .^ 2, noise)
end

const NAMES = (:a, :b, :c)
const KEYS = Dict(
    "importance" => ["proposal", "particles"],
    "hmc" => ["step_size", "leapfrogs", "tune", "draws", "chains", "metric"],
)

mutable struct Case
    method::Dict{String,Any}
    args::Tuple{Vector{Float64},Float64}
    seen::ChoiceMap
    values::Array{Float64,3}                     # chains x draws x parameters
    log_weights::Union{Nothing,Vector{Float64}}
    facts::Dict{String,Any}
end

function checked(request)
    method, name = request["method"], request["method"]["name"]
    haskey(KEYS, name) || throw(Cannot("no method $name here"))
    request["program"] == "polynomial" || throw(Cannot("no $name of $(request["program"]) here"))
    for key in setdiff(keys(method), KEYS[name], ["name"])
        throw(Cannot("no setting $key of $name here"))
    end
    request["precision"] == "f64" || throw(Cannot("Gen.jl computes in f64"))
    request["device"] == "cpu" || throw(Cannot("Gen.jl computes on the CPU"))
    get(method, "proposal", "prior") == "prior" || throw(Cannot("no proposal $(method["proposal"]) here"))
    get(method, "metric", "identity") == "identity" || throw(Cannot("no metric but the identity here"))
    return method
end

function start(request)
    method, data = checked(request), JSON.parsefile(request["data"])
    args = (Float64.(data["x"]), Float64(data["noise"]))
    seen = choicemap((:y, Float64.(data["y"])))
    case = Case(method, args, seen, zeros(0, 0, 0), nothing, Dict{String,Any}())
    first, second = run!(case, 0), run!(case, 1)
    answer = Dict(
        "versions" => Dict("Gen" => string(pkgversion(Gen)), "julia" => string(VERSION)),
        "device" => "cpu: $(Sys.cpu_info()[1].model)",
        "compile_seconds" => max(0.0, first - second),
        "settings" => "dynamic modelling language, one choice of all measurements",
        "known_bugs" => String[],
    )
    return case, answer
end

function log_density(case, point)
    choices = merge(case.seen, choicemap(zip(NAMES, Float64.(point))...))
    weight, _ = assess(polynomial, case.args, choices)
    return weight
end

function run!(case, seed)
    Random.seed!(seed)
    GC.gc()
    return @elapsed (case.method["name"] == "importance" ? importance! : hmc!)(case)
end

function importance!(case)
    particles = case.method["particles"]
    traces, normalized, log_evidence = importance_sampling(polynomial, case.args, case.seen, particles)
    case.values = reshape([trace[name] for trace in traces, name in NAMES], 1, particles, 3)
    # Gen normalizes the weights; their mean is the evidence.
    case.log_weights = normalized .+ (log_evidence + log(particles))
    case.facts = Dict("log_evidence" => log_evidence)
end

function hmc!(case)
    method = case.method
    chains, tune, draws = method["chains"], method["tune"], method["draws"]
    case.values, case.log_weights = zeros(chains, draws, 3), nothing
    for chain in 1:chains
        trace, _ = generate(polynomial, case.args, case.seen)
        for draw in (1 - tune):draws
            trace, _ = hmc(trace, select(NAMES...); L=method["leapfrogs"], eps=method["step_size"])
            if draw > 0
                case.values[chain, draw, :] .= (trace[name] for name in NAMES)
            end
        end
    end
    # Two for each leapfrog: `hmc` takes a gradient before and after it.
    case.facts = Dict("gradients" => 2 * chains * (tune + draws) * method["leapfrogs"])
end

# NumPy's format 1.0, in C order: Julia's arrays have the first index fastest, and are turned around.
function write_npy(path, values)
    shape = join(size(values), ", ") * (ndims(values) == 1 ? "," : "")
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': ($shape), }"
    header *= " "^mod(-(10 + length(header) + 1), 64) * "\n"
    open(path, "w") do file
        write(file, UInt8[0x93], "NUMPY", UInt8[1, 0], htol(UInt16(length(header))), header)
        write(file, htol.(permutedims(values, ndims(values):-1:1)))
    end
end

function draws(case, folder)
    write_npy(joinpath(folder, "draws.npy"), case.values)
    case.log_weights === nothing || write_npy(joinpath(folder, "log_weights.npy"), case.log_weights)
    return case.facts
end

function main()
    case = nothing
    for line in eachline(stdin)
        answer = try
            request = JSON.parse(line)
            if request["do"] == "start"
                case = nothing
                case, told = start(request)
                told
            elseif case === nothing
                error("nothing has been started")
            elseif request["do"] == "log_density"
                Dict("values" => [log_density(case, point) for point in request["points"]])
            elseif request["do"] == "run"
                Dict("seconds" => run!(case, request["seed"]))
            elseif request["do"] == "draws"
                draws(case, request["to"])
            else
                error("no such request: $(request["do"])")
            end
        catch failure
            if failure isa Cannot
                Dict("cannot" => failure.why)
            else
                Dict("error" => "$(nameof(typeof(failure))): $(sprint(showerror, failure))")
            end
        end
        println(JSON.json(answer))
        flush(stdout)
    end
end

main()
