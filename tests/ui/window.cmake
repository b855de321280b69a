# fake_worker: speaks the protocol without a model, and misbehaves on request.
add_executable(fake_worker fake_worker.cpp)
target_link_libraries(fake_worker PRIVATE mambarium_contract mambarium_warnings)
set_target_properties(fake_worker PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

foreach(name session_test session_fork_test panel_feed_test form_test window_test window_transport_test
             window_notices_test)
  mambarium_add_test(${name} SOURCES ${name}.cpp LIBRARIES mambarium_ui GUI ALONE)
  add_dependencies(${name} fake_worker)
  target_compile_definitions(${name} PRIVATE FAKE_WORKER="$<TARGET_FILE:fake_worker>")
endforeach()

mambarium_add_test(motif_profile_editor_test SOURCES motif_profile_editor_test.cpp LIBRARIES mambarium_ui GUI)

foreach(name run_list_test sweep_ablation_test)
  mambarium_add_test(${name} SOURCES ${name}.cpp LIBRARIES mambarium_ui)
endforeach()

if(TARGET mambarium-worker)
  foreach(name real_worker_test real_fork_test real_switching_test real_flow_test sweep_window_test)
    mambarium_add_test(${name} SOURCES ${name}.cpp LIBRARIES mambarium_ui GUI ALONE TIMEOUT 600)
    add_dependencies(${name} mambarium-worker)
    target_compile_definitions(${name} PRIVATE FAKE_WORKER="")
  endforeach()
endif()

# A measurement, not a test: scripts/measure-window runs it.
if(TARGET mambarium-worker)
  add_executable(window_frames EXCLUDE_FROM_ALL window_frames.cpp)
  target_link_libraries(window_frames PRIVATE mambarium_ui Qt6::Test mambarium_warnings)
  add_dependencies(window_frames mambarium-worker)
  target_compile_definitions(window_frames PRIVATE FAKE_WORKER=""
                                                   MAMBARIUM_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
  set_target_properties(window_frames PROPERTIES AUTOMOC ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
