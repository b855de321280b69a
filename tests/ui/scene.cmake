# The 3-D scene: geometry and files need no screen, the scene itself needs OpenGL.
mambarium_add_test(flow_geometry_test SOURCES flow_geometry_test.cpp LIBRARIES mambarium_ui)
mambarium_add_test(flow_files_test SOURCES flow_files_test.cpp LIBRARIES mambarium_ui VTK::IOXML VTK::CommonDataModel)
set_source_files_properties(flow_files_test.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # VTK before Qt's OpenGL
mambarium_add_test(fixed_point_label_test SOURCES fixed_point_label_test.cpp LIBRARIES mambarium_ui GUI)
foreach(name flow_scene_test flow_scene_mouse_test)
  mambarium_add_test(${name} SOURCES ${name}.cpp LIBRARIES mambarium_ui GUI)
endforeach()

# A measurement, not a test: scripts/measure-flow runs it.
add_executable(flow_frames EXCLUDE_FROM_ALL flow_frames.cpp)
target_link_libraries(flow_frames PRIVATE mambarium_ui Qt6::Test mambarium_warnings)
set_target_properties(flow_frames PROPERTIES AUTOMOC ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
